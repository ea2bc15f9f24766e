/** The part of Trusted Types that the console uses; TypeScript's library does not have it. */
interface Window {
  trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL: (url: string) => string },
    ): { createScriptURL(url: string): unknown }
  }
}
