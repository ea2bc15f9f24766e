/**
 * Throws the system's error, such as EADDRINUSE, when the port cannot be listened on. Asked before a first start makes
 * anything: keys that were shown in front of a refusal are overlooked. A port that processes share is not asked for: it
 * is never taken by its sharers, and whoever connected in that moment would be answered by nobody.
 */
export function requireFreePort(config: { host: string; port: number; sharePort: boolean }): void {
  if (config.port === 0 || config.sharePort) return
  const probe = Bun.serve({ hostname: config.host, port: config.port, fetch: () => new Response() })
  void probe.stop(true)
}
