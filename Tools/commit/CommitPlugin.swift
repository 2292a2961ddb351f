import Foundation
import PackagePlugin

/// Compiles the commit that is checked out into a target.
///
/// The command depends on the files that Git changes with each new commit or checkout, so a build in which nothing changed
/// compiles and links nothing. SwiftPM's own `Context.gitInformation` cannot be used: it is cached with the manifest, so
/// after a commit it shows the one before.
@main
struct CommitPlugin: BuildToolPlugin {
  /// Writes a Swift file with the commit, which is `unknown` without Git, without a repository and before the first commit.
  private static let script = """
    commit=$(git -C "$1" rev-parse --verify --quiet 'HEAD^{commit}' 2>/dev/null) || commit=unknown
    printf 'enum BuiltCommit {\\n  static let text = "%s"\\n}\\n' "$commit" >"$2"
    """

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let sources = context.package.directoryURL
    let output = context.pluginWorkDirectoryURL.appending(path: "BuiltCommit.swift")
    return [
      .buildCommand(
        displayName: "Looking up the commit", executable: URL(filePath: "/bin/sh"),
        arguments: ["-c", Self.script, "sh", sources.path(percentEncoded: false), output.path(percentEncoded: false)],
        inputFiles: filesOfHead(in: sources), outputFiles: [output])
    ]
  }

  /// The files that exist of those that show which commit is checked out: `HEAD` changes with another branch, and its
  /// history with each commit too.
  private func filesOfHead(in sources: URL) -> [URL] {
    guard let folder = gitFolder(of: sources) else { return [] }
    return ["HEAD", "logs/HEAD"].map { folder.appending(path: $0) }
      .filter { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }
  }

  /// `.git`, or the folder that this names in a linked worktree.
  private func gitFolder(of sources: URL) -> URL? {
    let folder = sources.appending(path: ".git")
    guard let text = try? String(contentsOf: folder, encoding: .utf8) else { return folder }
    guard text.hasPrefix("gitdir: ") else { return nil }
    let path = text.dropFirst("gitdir: ".count).trimmingCharacters(in: .whitespacesAndNewlines)
    return URL(filePath: path, relativeTo: sources)
  }
}
