/** Colours, used only on a terminal; `NO_COLOR` switches them off and `FORCE_COLOR` on. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  green(text: string): string
  red(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Colours for a terminal, or functions that return the text unchanged. */
export function createPaint(isTty: boolean, env: Environment): Paint {
  const isOn = env['NO_COLOR'] ? false : isTty || Boolean(env['FORCE_COLOR'])
  const code = (open: number, close: number) => (text: string) =>
    isOn ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    green: code(32, 39),
    red: code(31, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
  }
}

const escapes = /\u001b\[\d+m/g

/** The columns that a text occupies on a terminal, colours excluded. */
export function widthOf(text: string): number {
  return [...text.replaceAll(escapes, '')].length
}

/** The text padded with spaces to that many columns. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** Text from outside (providers, files) made safe for a terminal: without control characters. */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '?')
}
