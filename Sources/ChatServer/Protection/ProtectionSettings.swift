/// The settings that keep clients from harming the server or each other.
package struct ProtectionSettings: Sendable {
  package var connections = ConnectionSettings()
  package var tls: TLSSettings?
  package var proxies = TrustedProxies([])
  package var rateLimits = RateLimitSettings()
  package var logins = LoginSettings()
  package var crossOrigin = CrossOriginSettings()

  package init() {}
}
