/** The path that the gateway lies below (`/a/b`, or nothing), which whoever serves the page writes into it. */
export const basePath: string =
  document.querySelector('meta[name="headrace-base-path"]')?.getAttribute('content') ?? ''

/** The address of the API for people who paste it: `http://127.0.0.1:8787/v1`. */
export const apiUrl = `${window.location.origin}${basePath}/v1`
