import { isDeepStrictEqual } from 'node:util'
import { pricePackage, pricePackageVersion } from '../../catalog/prices/price-package.gen.ts'
import type { PriceTable } from '../../catalog/prices/price-table.ts'
import {
  comparePrices,
  shownAmount,
  unitName,
  type PriceChange,
  type PriceComparison,
} from '../../catalog/price-lists/price-changes.ts'
import { BadPriceData, readPriceData } from '../../catalog/price-lists/price-data.ts'
import { checksumOf, readPriceList, renderPriceList } from '../../catalog/price-lists/price-list.ts'
import { atOnce } from '../../core/turns.ts'
import { presets } from '../../providers/registry.ts'
import { parseArguments, type Parsed } from '../arguments.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { withStorage } from '../local-storage.ts'
import { createPaint, printable } from '../paint.ts'
import { renderTable } from '../table.ts'
import { findPrices } from './price-source.ts'

/** The largest list of prices that is stored. */
const priceListBytesMax = 16_000_000

/** The most lines that a comparison shows about added and removed models. */
const priceLinesShownMax = 40

/** `headrace prices`: shows the default prices in use, and replaces them without a new release. */
export function runPrices(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('prices', args, { yes: { type: 'boolean' }, force: { type: 'boolean' } }, 2)
  const [verb = 'list', named] = parsed.words
  switch (verb) {
    case 'list':
      return withStorage(context, (storage) => listPrices(storage, context))
    case 'update':
      if (named === undefined) throw usageFailure('Name a package, a folder, an archive or a file.', 'prices')
      return updatePrices(named, parsed, context)
    case 'reset':
      return withStorage(context, (storage) =>
        takePrices({ table: null, source: 'the program' }, storage, parsed, context),
      )
    default:
      throw usageFailure(`"${verb}" is not expected here.`, 'prices')
  }
}

async function listPrices({ priceLists }: CliStorage, context: CommandContext): Promise<number> {
  const lists = await priceLists.list()
  const rows = lists.map(({ version, source, checksum, createdAtMs }, index) => [
    index === 0 ? `${version} counts` : String(version),
    new Date(createdAtMs).toISOString().slice(0, 16).replace('T', ' '),
    checksum.slice(0, 12),
    printable(source),
  ])
  const shipped = `@pydantic/genai-prices ${pricePackageVersion}, which the program came with`
  if (rows.length === 0) {
    context.write(`The default prices are those of ${shipped}.\n`)
    return 0
  }
  context.write(
    renderTable(
      ['version', 'taken (UTC)', 'checksum', 'source'],
      rows,
      createPaint(context.isTty, context.env),
    ),
  )
  context.write(`Providers that it does not name have the prices of ${shipped}.\n`)
  return 0
}

async function updatePrices(named: string, parsed: Parsed, context: CommandContext): Promise<number> {
  const { data, source } = await findPrices(named, context)
  const ids = new Set(presets.flatMap(({ pricesProviderId }) => pricesProviderId ?? []))
  let table: PriceTable
  try {
    table = readPriceData(data, ids)
  } catch (error) {
    if (!(error instanceof BadPriceData)) throw error
    throw new CommandFailure(`${printable(named)} is not taken: ${error.message}. Nothing was changed.`)
  }
  return withStorage(context, (storage) => takePrices({ table, source }, storage, parsed, context))
}

/** A `table` of null means the prices that came with the program. */
async function takePrices(
  { table, source }: { table: PriceTable | null; source: string },
  { priceLists }: CliStorage,
  parsed: Parsed,
  context: CommandContext,
): Promise<number> {
  const newest = await priceLists.loadNewest()
  const before = newest ? atOnce(readPriceList(newest, pricePackage)) : pricePackage
  const after = table ? { ...pricePackage, ...table } : pricePackage
  const nowMs = Date.now()
  const comparison = comparePrices(before, after, nowMs)
  if (isDeepStrictEqual(before, after)) {
    context.write(`The prices of ${printable(source)} are those that count already. Nothing was changed.\n`)
    return 0
  }
  if (comparison.changed.length + comparison.added.length + comparison.removed.length === 0)
    context.write('No price changes; what else is known of models does.\n')
  show(comparison, context)
  if (comparison.doubts.length > 0 && !parsed.isOn('force')) {
    throw new CommandFailure(
      `This looks like a mistake: ${comparison.doubts.slice(0, 10).join('; ')}. Nothing was changed; --force takes it all the same.`,
    )
  }
  const isMeant =
    parsed.isOn('yes') || /^y(es)?$/i.test((await context.ask('Take these prices? [y/N] ')).trim())
  if (!isMeant) {
    context.write('Nothing was changed. --yes takes them without asking.\n')
    return 1
  }
  const content = table ? renderPriceList(table) : ''
  if (content.length > priceListBytesMax)
    throw new CommandFailure(`A list of ${content.length} bytes is not stored.`)
  const version = (newest?.version ?? 0) + 1
  const list = { version, source, checksum: checksumOf(content), content, createdAtMs: nowMs }
  if (!(await priceLists.insert(list)))
    throw new CommandFailure('Somebody else has taken prices in this moment; look at them and try again.')
  context.write(
    `Version ${version} counts from now on. Gateways that run take it within seconds; the prices of "prices" in the configuration still win.\n`,
  )
  return 0
}

function show({ changed, added, removed }: PriceComparison, context: CommandContext): void {
  const paint = createPaint(context.isTty, context.env)
  const headers = ['model', 'unit', 'USD per million', '']
  if (changed.length > 0) {
    context.write(`Changed:\n${renderTable(headers, changed.map(toRow), paint)}`)
  }
  for (const [title, changes] of [
    ['New models', added],
    ['Models without a price from now on', removed],
  ] as const) {
    if (changes.length === 0) continue
    const shown = changes.slice(0, priceLinesShownMax)
    const rest = changes.length - shown.length
    context.write(`${title}:\n${renderTable(headers, shown.map(toRow), paint)}`)
    if (rest > 0) context.write(`and ${rest} more prices\n`)
  }
}

function toRow(change: PriceChange): string[] {
  const { model, unit, before, after } = change
  const isHour = unit === 'audioHour'
  return [
    printable(model),
    unitName(change),
    `${shownAmount(unit, before)} → ${shownAmount(unit, after)}`,
    isHour ? 'USD an hour' : '',
  ]
}
