import { parseArguments } from './arguments.ts'
import type { CommandContext } from './context.ts'
import { clientOf } from './in-process-gateway.ts'
import { listOrEmpty, recordOrEmpty, textOrEmpty } from '../json/values.ts'
import { createPaint, printable } from './paint.ts'
import { renderTable } from './table.ts'
import { listModels, type ListedByGateway } from './try/try-models.ts'

/**
 * `headrace models`: the models that the running gateway serves, as a table or, with `--json`, as the API shows them.
 */
export async function runModels(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('models', args, { json: { type: 'boolean' } }, 1)
  const client = clientOf(context)
  const key = context.env['HEADRACE_API_KEY'] ?? null
  const [wanted = ''] = parsed.words
  if (parsed.isOn('json')) {
    const answer = await client.json('/models?output_modalities=all', { key })
    const data = listOrEmpty(answer['data']).filter((model) =>
      textOrEmpty(recordOrEmpty(model)['id']).includes(wanted),
    )
    const shown = wanted === '' ? answer : { ...answer, data, total_count: data.length }
    context.write(`${JSON.stringify(shown, null, 2)}\n`)
    return 0
  }
  const models = (await listModels(client, key)).filter(({ id }) => id.includes(wanted))
  if (models.length === 0) {
    context.write(
      wanted === ''
        ? 'No model is served. Next: npx headrace doctor\n'
        : `No model has "${wanted}" in its id.\n`,
    )
    return 0
  }
  const rows = models.map((model) => [
    printable(model.id),
    `${model.inputs.join('+')} → ${model.outputs.join('+')}`,
    model.contextLength > 0 ? String(model.contextLength) : '-',
    isSearched(model) ? '-' : perMillion(model.promptPrice),
    isSearched(model) ? '-' : perMillion(model.completionPrice),
    perMinute(model.audioPrice),
    perThousand(model.searchPrice),
  ])
  const paint = createPaint(context.isTty, context.env)
  context.write(
    renderTable(
      ['model', 'modalities', 'context', 'in $/M', 'out $/M', 'audio $/min', 'search $/k'],
      rows,
      paint,
    ),
  )
  return 0
}

/** Whether a reranking is billed by searches alone, so that a zero for its tokens would say that it is free. */
function isSearched({ searchPrice, promptPrice }: ListedByGateway): boolean {
  return searchPrice !== '' && !(Number(promptPrice) > 0)
}

/** The price of a thousand search units, as the configuration writes it. */
function perThousand(price: string): string {
  return price === '' ? '-' : String(Number((Number(price) * 1_000).toPrecision(6)))
}

/** Audio is priced by the second, but people compare prices by the minute. */
function perMinute(price: string): string {
  const value = Number(price)
  return price === '' || !(value > 0) ? '-' : String(Number((value * 60).toPrecision(6)))
}

/** The catalog's price of one unit, as the price of a million units, which people compare. */
function perMillion(price: string): string {
  const value = Number(price)
  if (!Number.isFinite(value) || value < 0) return 'unknown'
  return String(Number((value * 1e6).toPrecision(6)))
}
