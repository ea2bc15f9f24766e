import type { TestGateway } from './gateway.ts'
import { readAnswer, type Answer } from './gateway.ts'

/** How one request differs from what the console sends. */
export interface BrowserRequest {
  method?: string
  body?: unknown
  /** Headers that differ; null leaves one out. */
  headers?: Readonly<Record<string, string | null>>
}

/** A browser with its cookie, which calls the gateway as the console does. */
export interface TestBrowser {
  /** `path` is below `/v1`, or below the root when it begins with `//`. */
  send(path: string, request?: BrowserRequest): Promise<Answer>
  /** The `Cookie` header that it would send. */
  cookie(): string
  /** Every secret that it was ever given. */
  secrets(): readonly string[]
}

/** The header of the gateway's own that makes a cookie count, and what browsers add to a call of a page of the gateway. */
const ofConsole = { 'x-headrace-console': '1', 'sec-fetch-site': 'same-origin' }

let browsers = 0

/**
 * A browser that is not signed in. Each has an address of its own where the gateway believes the proxy, because what one
 * address guesses wrong makes it wait.
 */
export function createBrowser(gateway: TestGateway): TestBrowser {
  const jar = new Map<string, string>()
  const secrets: string[] = []
  const address = `10.0.${Math.floor(browsers / 250)}.${(browsers++ % 250) + 1}`
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  return {
    cookie,
    secrets: () => secrets,
    async send(path, { method = 'GET', body, headers = {} } = {}) {
      const sent = new Map<string, string>(Object.entries(ofConsole))
      sent.set('x-forwarded-for', address)
      if (jar.size > 0) sent.set('cookie', cookie())
      for (const [name, value] of Object.entries(headers)) {
        if (value === null) sent.delete(name)
        else sent.set(name, value)
      }
      const response = await gateway.request(path, {
        method,
        key: null,
        body,
        headers: Object.fromEntries(sent),
      })
      for (const set of response.headers.getSetCookie()) {
        const [pair = '', ...attributes] = set.split('; ')
        const [name = '', value = ''] = pair.split('=', 2)
        if (attributes.includes('Max-Age=0')) jar.delete(name)
        else {
          jar.set(name, value)
          secrets.push(value)
        }
      }
      return readAnswer(response)
    },
  }
}

/** A browser that was signed in by a link to a person with this role. */
export async function signInAs(
  gateway: TestGateway,
  role: 'admin' | 'member' | 'viewer',
  email = `${role}@example.com`,
): Promise<TestBrowser & { memberId: string; link: string }> {
  const invited = await gateway.post('/headrace/members', { email, role }, { key: gateway.managementKey })
  if (invited.status !== 201) throw new Error(invited.text)
  const link = linkTokenOf(String(invited.json['link']))
  const browser = createBrowser(gateway)
  const signedIn = await browser.send('/headrace/session', { method: 'POST', body: { link } })
  if (signedIn.status !== 201) throw new Error(signedIn.text)
  return { ...browser, link, memberId: String((invited.json['data'] as Record<string, unknown>)['id']) }
}

/** The token in a link's fragment. */
export function linkTokenOf(link: string): string {
  return /#sign-in=(hr-link-[0-9a-z]+)$/.exec(link)?.[1] ?? ''
}
