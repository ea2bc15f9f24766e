import { counted } from '../amounts.ts'
import { parseArguments } from '../arguments.ts'
import type { CommandContext } from '../context.ts'
import { diagnose } from './diagnosis.ts'
import type { Finding } from './finding.ts'
import { createPaint, padded, type Paint } from '../paint.ts'

/** `headrace doctor`: reports problems and their remedies. Exit code 1 when there is a problem. */
export async function runDoctor(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('doctor', args, { json: { type: 'boolean' } }, 0)
  const paint = createPaint(context.isTty, context.env)
  let problems = 0
  let warnings = 0
  for await (const finding of diagnose(context)) {
    if (finding.level === 'problem') problems += 1
    if (finding.level === 'warning') warnings += 1
    context.write(parsed.isOn('json') ? `${JSON.stringify(finding)}\n` : renderFinding(finding, paint))
  }
  if (parsed.isOn('json')) return problems === 0 ? 0 : 1
  if (problems > 0)
    context.write(`\n${paint.red(counted(problems, 'problem'))}, ${counted(warnings, 'warning')}\n`)
  else
    context.write(
      `\n${paint.green('nothing is wrong')}${warnings > 0 ? `, ${counted(warnings, 'warning')}` : ''}\n`,
    )
  return problems === 0 ? 0 : 1
}

const marks = { ok: '✓', warning: '!', problem: '✗' } as const

function renderFinding({ level, subject, message, next }: Finding, paint: Paint): string {
  const colour = { ok: paint.green, warning: paint.yellow, problem: paint.red }[level]
  const line = `${colour(marks[level])} ${padded(subject, 14)} ${message}\n`
  return next === null ? line : `${line}  ${' '.repeat(15)}${paint.dim(`next: ${next}`)}\n`
}
