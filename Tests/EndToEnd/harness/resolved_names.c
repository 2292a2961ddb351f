// Preloaded into the server: names that HANSARD_TEST_NAMES lists resolve to a port of this machine, as in
// "push.example.org=8443,other.example.org=8444". All other names resolve as usual.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

int getaddrinfo(
  const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints,
  struct addrinfo **restrict found) {
  static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
  if (!real) {
    real = (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(
      RTLD_NEXT, "getaddrinfo");
  }
  const char *entry = getenv("HANSARD_TEST_NAMES");
  size_t length = name ? strlen(name) : 0;
  while (length > 0 && entry && *entry) {
    if (strncmp(entry, name, length) == 0 && entry[length] == '=') {
      char port[8] = {0};
      strncpy(port, entry + length + 1, strcspn(entry + length + 1, ",") & 7);
      // Only IPv4, because the stand-ins listen there.
      struct addrinfo loopback = {.ai_family = AF_INET, .ai_socktype = hints ? hints->ai_socktype : SOCK_STREAM};
      if (hints && hints->ai_family == AF_INET6) return EAI_NONAME;
      return real("127.0.0.1", port, &loopback, found);
    }
    const char *next = strchr(entry, ',');
    entry = next ? next + 1 : NULL;
  }
  return real(name, service, hints, found);
}
