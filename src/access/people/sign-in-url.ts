/**
 * The address that signs somebody in. The token is in its fragment, which browsers send to nobody, so that it is in no log
 * of a server or proxy.
 */
export function signInUrl(root: string, token: string): string {
  return `${root}/ui/#sign-in=${token}`
}
