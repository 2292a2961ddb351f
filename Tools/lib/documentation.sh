# Puts the documentation into the Debian package. Source it after setup.sh.

# Copies the pages, and what they show and link to, into the folder $1. README.md is beside the other pages there, so its links
# are changed.
stage_documentation() {
  local part
  install -d "$1"
  install -m 0644 README.md docs/*.md docs/*.svg docs/openapi.yaml "$1/"
  sed -i 's|\([[(]\)docs/|\1|g' "$1/README.md"
  for part in decisions guides monitoring; do
    install -d "$1/$part"
    install -m 0644 docs/"$part"/* "$1/$part/"
  done
}
