import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { rootFolder } from '../../tidy/sources.ts'

/** The two ways in which each journey is made. */
export interface Mode {
  name: string
  width: number
  height: number
  theme: 'light' | 'dark'
  basePath: string
  isKeyboard: boolean
}

export const modes: readonly Mode[] = [
  { name: '1440-light-mouse', width: 1440, height: 900, theme: 'light', basePath: '', isKeyboard: false },
  { name: '390-dark-keyboard', width: 390, height: 844, theme: 'dark', basePath: '/a/b', isKeyboard: true },
]

export const inferenceKey = 'console-proof-inference-key'
export const managementKey = 'console-proof-management-key'

const executable = '/usr/bin/chromium'
const pictures = join(import.meta.dir, 'pictures')
const layoutShiftMax = 0.02
const tabsMax = 120

/** A browser at the console of a gateway with the simulator, signed in. */
export interface Visit {
  mode: Mode
  gateway: RealGateway
  page: Page
  context: BrowserContext
  /** What the browser has as the gateway's address, up to and with the base path. */
  origin: string
  /** The same address for this process. */
  address: string
  /** Opens a path below `/ui`, whole. */
  open(path: string): Promise<void>
  /** Presses a button or follows a link, by the mouse or by Tab and Enter. */
  press(locator: Locator): Promise<void>
  /** Takes a picture and notes what axe finds. */
  look(name: string): Promise<void>
  /** An error that this step provokes on purpose; the browser reports it on its console. */
  expectErrors(pattern: RegExp): void
  /** What was wrong so far. */
  faults(): Promise<readonly string[]>
}

export interface VisitOptions {
  /** More of the gateway's environment, beside that of the mode. */
  env?: (mode: Mode) => Promise<Record<string, string>>
  config?: Record<string, unknown>
  /** A name of the gateway in a LAN: on plain HTTP browsers give its pages neither clipboard nor metadata of requests. */
  lanName?: string
  /** Without it the page is opened by the link of `admin link`. */
  isSignedOut?: boolean
  /** More flags for the browser; what they name may lie in this folder, which is removed with the gateway. */
  flags?: (folder: string) => Promise<readonly string[]>
}

/** Runs a journey in one mode; what was wrong with the page itself is added to what it finds. */
export async function visit(
  mode: Mode,
  journey: (visit: Visit) => Promise<readonly string[]>,
  options: VisitOptions = {},
): Promise<readonly string[]> {
  const gateway = prepareGateway(options.config ?? null)
  let browser: Browser | null = null
  try {
    const env = { ...environmentOf(mode), ...(await options.env?.(mode)) }
    await gateway.start(env)
    const { lanName } = options
    const rules = lanName === undefined ? [] : [`--host-resolver-rules=MAP ${lanName} 127.0.0.1`]
    const more = (await options.flags?.(gateway.folder)) ?? []
    browser = await chromium.launch({ executablePath: executable, args: [...flags, ...rules, ...more] })
    const host = new URL(gateway.baseUrl)
    if (lanName !== undefined) host.hostname = lanName
    const opened = await openVisit({ mode, gateway, browser, host: host.origin })
    if (options.isSignedOut !== true) {
      const link = new URL(await signInLink(gateway, env))
      link.host = host.host
      await opened.page.goto(link.href)
    }
    if (options.isSignedOut !== true)
      await opened.page
        .getByRole('navigation')
        .first()
        .or(opened.page.getByLabel('Open the menu'))
        .first()
        .waitFor()
    const found = await journey(opened)
    return [...found, ...(await opened.faults())]
  } finally {
    await browser?.close()
    await gateway.remove()
  }
}

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
]

export function environmentOf({ basePath }: Mode): Record<string, string> {
  return {
    HEADRACE_BOOTSTRAP_KEY: inferenceKey,
    HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
    HEADRACE_BOOTSTRAP_CREDITS: '20',
    ...(basePath === '' ? {} : { HEADRACE_BASE_PATH: basePath }),
  }
}

/** A link of `headrace admin link`, which works once. */
export async function signInLink(gateway: RealGateway, env: Record<string, string>): Promise<string> {
  const { output, errors } = await gateway.run(['admin', 'link'], env)
  const found = /https?:\S+#sign-in=\S+/.exec(output + errors)
  if (found === null) throw new Error(`admin link printed no link: ${output} ${errors}`)
  return found[0]
}

async function openVisit({
  mode,
  gateway,
  browser,
  host,
}: {
  mode: Mode
  gateway: RealGateway
  browser: Browser
  host: string
}): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: mode.width, height: mode.height },
    colorScheme: mode.theme,
    timezoneId: 'Europe/Berlin',
    permissions: ['microphone'],
    acceptDownloads: true,
  })
  const page = await context.newPage()
  const watched = await watch(page, host)
  const origin = `${host}${mode.basePath}`
  return {
    mode,
    gateway,
    page,
    context,
    origin,
    address: `${new URL(gateway.baseUrl).origin}${mode.basePath}`,
    async open(path) {
      await page.goto(`${origin}/ui${path}`)
    },
    press: (locator) => press(page, locator, mode),
    async look(name) {
      await page.waitForTimeout(250)
      mkdirSync(pictures, { recursive: true })
      await page.screenshot({ path: join(pictures, `${name}.${mode.name}.png`), fullPage: true })
      watched.faults.push(...(await axeFaults(page, name)))
    },
    expectErrors: (pattern) => void watched.expected.push(pattern),
    faults: () => watched.end(),
  }
}

interface Watched {
  faults: string[]
  expected: RegExp[]
  end(): Promise<readonly string[]>
}

/** Notes errors, violations of the policy, requests to other hosts, and how far the layout shifts. */
async function watch(page: Page, host: string): Promise<Watched> {
  const faults: string[] = []
  const expected: RegExp[] = []
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    const text = `console: ${message.text().slice(0, 300)} ${message.location().url}`
    if (!expected.some((pattern) => pattern.test(text))) faults.push(text)
  })
  page.on('pageerror', (error) => faults.push(`error: ${error.message.slice(0, 300)}`))
  page.on('request', (request) => {
    const url = request.url()
    if (!/^(?:blob|data):/.test(url) && new URL(url).origin !== host) faults.push(`foreign request: ${url}`)
  })
  /** The most that a load of each address has shifted, and what moved. */
  const shifts = new Map<string, { sum: number; moved: string }>()
  await page.exposeBinding('noteShift', (_, [sum, moved]: [number, string]) => {
    const { pathname } = new URL(page.url())
    if (sum > (shifts.get(pathname)?.sum ?? 0)) shifts.set(pathname, { sum, moved })
  })
  await page.exposeBinding('noteViolation', (_, text: string) => void faults.push(`policy: ${text}`))
  await page.addInitScript(() => {
    const target = window as unknown as Record<'noteShift' | 'noteViolation', (value: unknown) => void>
    let sum = 0
    const moves: string[] = []
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number
        hadRecentInput: boolean
        sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[]
      })[]) {
        if (entry.hadRecentInput) continue
        sum += entry.value
        for (const { node, previousRect, currentRect } of entry.sources) {
          const element = node instanceof Element ? node : node?.parentElement
          const name = `${element?.tagName.toLowerCase() ?? '?'}.${element?.className ?? ''}`
          moves.push(
            `${name} ${previousRect.y}+${previousRect.height} to ${currentRect.y}+${currentRect.height}`,
          )
        }
      }
      target.noteShift([sum, moves.join(', ').slice(0, 600)])
    }).observe({ type: 'layout-shift', buffered: true })
    document.addEventListener('securitypolicyviolation', (event) =>
      target.noteViolation(`${event.violatedDirective} ${event.blockedURI}`),
    )
  })
  return {
    faults,
    expected,
    async end() {
      await page.waitForTimeout(100)
      const shifted = [...shifts]
        .filter(([, { sum }]) => sum > layoutShiftMax)
        .map(([path, { sum, moved }]) => `layout shift ${sum.toFixed(3)} at ${path}: ${moved}`)
      return [...faults, ...shifted]
    },
  }
}

const axeSource = readFileSync(join(rootFolder, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8')

async function axeFaults(page: Page, name: string): Promise<string[]> {
  await page.evaluate(axeSource)
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    const { violations: found } = await axe.run()
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
  })
  return violations.map((violation) => `axe, ${name}: ${violation}`)
}

async function press(page: Page, locator: Locator, { isKeyboard }: Mode): Promise<void> {
  await locator.waitFor()
  if (!isKeyboard) {
    await locator.click()
    return
  }
  await tabTo(page, locator)
  await page.keyboard.press('Enter')
}

/** Goes to a control as a person without a mouse does. */
export async function tabTo(page: Page, locator: Locator): Promise<void> {
  for (let count = 0; count < tabsMax; count += 1) {
    if (await locator.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${String(locator)}`)
}
