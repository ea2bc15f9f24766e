/** Colours that are there only on a terminal; `NO_COLOR` switches them off and `FORCE_COLOR` on. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  green(text: string): string
  red(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Paint for a terminal, or paint that leaves text as it is. */
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

/** Columns a text takes on a terminal, colours not counted. */
export function widthOf(text: string): number {
  return [...text.replaceAll(escapes, '')].length
}

/** The text filled up with spaces to that many columns. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** Text of others (providers, files) made safe for a terminal: no control characters. */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '?')
}
