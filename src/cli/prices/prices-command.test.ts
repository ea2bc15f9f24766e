import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { recordingContext } from '../../../test/story/command-context.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { createCatalog } from '../../catalog/catalog.ts'
import { pricePackage } from '../../catalog/prices/price-package.gen.ts'
import { createPriceFollower, loadPrices } from '../../catalog/price-lists/price-follower.ts'
import { createPriceListsRepository } from '../../catalog/price-lists/price-lists-repository.ts'
import { toDeploymentSource } from '../../providers/deployments.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { runCommand } from '../run.ts'

/** The price files of all tests in this file. */
const folder = mkdtempSync(join(tmpdir(), 'headrace-price-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const wireUnits: Readonly<Record<string, string>> = {
  inputToken: 'input_mtok',
  cachedInputToken: 'cache_read_mtok',
  cacheWriteToken: 'cache_write_mtok',
  cacheWriteHourToken: 'cache_write_1h_mtok',
  inputAudioToken: 'input_audio_mtok',
  outputToken: 'output_mtok',
  outputAudioToken: 'output_audio_mtok',
}

/** The shipped prices in the package's form, each model with its first price and without tiers. */
function shippedData(
  change: (provider: string, model: string, prices: Record<string, number>) => object | null,
) {
  return Object.entries(pricePackage).map(([id, models]) => ({
    id,
    models: models.flatMap((model) => {
      const price = model.prices[0]?.price ?? {}
      const prices = Object.fromEntries(
        Object.entries(price).flatMap(([unit, amount]) =>
          wireUnits[unit] ? [[wireUnits[unit], Number(amount) / 1e9] as const] : [],
        ),
      )
      const changed = change(id, model.id, prices)
      return changed === null ? [] : [{ id: model.id, match: model.match, prices: changed }]
    }),
  }))
}

const dearer = shippedData((_, model, prices) =>
  model === 'gpt-4o-mini' ? { ...prices, input_mtok: 0.3 } : prices,
)
const write = (name: string, data: unknown) => {
  const path = join(folder, name)
  writeFileSync(path, typeof data === 'string' ? data : JSON.stringify(data))
  return path
}

eachDatabase((_name, _open, { openFresh }) => {
  let storage: CliStorage
  let repository: ReturnType<typeof createPriceListsRepository>
  beforeAll(async () => {
    const { database } = await openFresh()
    repository = createPriceListsRepository(database)
    storage = { priceLists: repository, close: () => Promise.resolve() } as unknown as CliStorage
  })
  const run = async (args: readonly string[], given: Partial<CommandContext> = {}) => {
    const context = recordingContext({ openStorage: () => Promise.resolve(storage), cwd: folder, ...given })
    const code = await runCommand(['prices', ...args], context)
    return { code, output: context.output(), errors: context.errors() }
  }

  test('a comparison is shown, and no price is taken before a yes', async () => {
    const path = write('data.json', dearer)
    const { code, output } = await run(['update', path])
    expect([code, await repository.loadVersion()]).toEqual([1, 0])
    expect(output).toMatch(/openai\/gpt-4o-mini +input +0\.15 → 0\.3/)
    const asked = await run(['update', path], { ask: () => Promise.resolve('y') })
    expect([asked.code, await repository.loadVersion()]).toEqual([0, 1])
    expect((await run([])).output).toMatch(/1 counts .*data\.json/)
  })

  test('a running gateway takes a new list, the operator’s own prices win, and a call that has begun keeps its prices', async () => {
    const source = toDeploymentSource({ preset: 'openai', api_key: 'x', weight: 1, models: [] })
    const taken: number[] = []
    const { version, table } = await loadPrices(repository, pricePackage, () => undefined)
    expect(version).toBe(1)
    const prices = { 'openai/gpt-4o': { input_per_million: '7' } }
    const catalog = createCatalog({ deployments: [source], table, prices, nowMs: () => Date.now() })
    const inputOf = (view: ReturnType<typeof catalog.current>, model: string) =>
      view.endpointsOf(model, 'language')[0]?.price.inputToken
    const begun = catalog.current()
    expect(inputOf(begun, 'openai/gpt-4o-mini')).toBe(300_000_000n)
    const follower = createPriceFollower({
      repository,
      catalog,
      shipped: pricePackage,
      version,
      nowMs: () => Date.now(),
      onTaken: (list) => void taken.push(list.version),
      onFailure: (failure) => {
        throw failure
      },
    })
    await follower.look()
    expect(catalog.current()).toBe(begun)
    expect((await run(['reset', '--yes'])).code).toBe(0)
    await follower.look()
    expect(taken).toEqual([2])
    expect(inputOf(catalog.current(), 'openai/gpt-4o-mini')).toBe(150_000_000n)
    expect(inputOf(catalog.current(), 'openai/gpt-4o')).toBe(7_000_000_000n)
    expect(inputOf(begun, 'openai/gpt-4o-mini')).toBe(300_000_000n)
  })

  test('a package is read from its folder and its archive, and its code is not run', async () => {
    const pack = join(folder, 'package')
    mkdirSync(join(pack, 'dist'), { recursive: true })
    writeFileSync(join(pack, 'package.json'), '{"name":"@pydantic/genai-prices","version":"9.9.9"}')
    const code = `const E = ${JSON.stringify(dearer)};\nthrow new Error('run');\n`
    writeFileSync(join(pack, 'dist', 'index.js'), code)
    await Bun.$`tar -czf ${join(folder, 'p.tgz')} -C ${folder} package`.quiet()
    const before = await repository.loadVersion()
    expect((await run(['update', pack, '--yes'])).errors).toBe('')
    expect((await run([])).output).toContain('@pydantic/genai-prices 9.9.9')
    const again = await run(['update', 'p.tgz', '--yes'])
    expect([again.code, again.output]).toEqual([
      0,
      'The prices of @pydantic/genai-prices 9.9.9 are those that count already. Nothing was changed.\n',
    ])
    expect(await repository.loadVersion()).toBe(before + 1)
    await run(['reset', '--yes'])
  })

  test('a package of a registry is fetched by npm, from the registry that npm is told', async () => {
    const pack = join(folder, 'fetched')
    mkdirSync(pack, { recursive: true })
    const named = { name: '@pydantic/genai-prices', version: '9.9.10' }
    writeFileSync(join(pack, 'package.json'), JSON.stringify(named))
    writeFileSync(join(pack, 'data.json'), JSON.stringify(dearer))
    await Bun.$`tar -czf ${join(folder, 'f.tgz')} -C ${folder} --transform s/fetched/package/ fetched`.quiet()
    const archive = await Bun.file(join(folder, 'f.tgz')).bytes()
    const asked: string[] = []
    const registry = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname, origin } = new URL(request.url)
        asked.push(pathname)
        if (pathname.endsWith('.tgz')) return new Response(archive)
        const shasum = new Bun.CryptoHasher('sha1').update(archive).digest('hex')
        const version = { ...named, dist: { tarball: `${origin}/f.tgz`, shasum } }
        return Response.json({
          ...named,
          'dist-tags': { latest: named.version },
          versions: { [named.version]: version },
        })
      },
    })
    const env = {
      ...process.env,
      npm_config_registry: registry.url.origin,
      npm_config_cache: join(folder, 'cache'),
      npm_config_update_notifier: 'false',
    }
    const { code, output, errors } = await run(['update', '@pydantic/genai-prices@9.9.10', '--yes'], { env })
    await registry.stop(true)
    expect([code, errors]).toEqual([0, ''])
    expect(output).toMatch(/openai\/gpt-4o-mini +input +0\.15 → 0\.3/)
    expect([...new Set(asked.map((path) => decodeURIComponent(path)))]).toEqual([
      '/@pydantic/genai-prices',
      '/f.tgz',
    ])
    await run(['reset', '--yes'])
  }, 30_000)

  test('a file that is not a list of prices is refused with the name of its fault and changes nothing', async () => {
    const before = await repository.loadVersion()
    const refused: readonly [string, string][] = [
      [write('broken.json', '{"a":'), 'broken.json cannot be read'],
      [write('empty.json', '[]'), 'it names no provider'],
      [write('code.js', 'const E = [steal()]'), '"steal" is no data'],
      [write('no.tgz', 'not gzip'), 'no.tgz is no archive of a package'],
      [
        write('below.json', [
          { id: 'openai', models: [{ id: 'm', match: { equals: 'm' }, prices: { input_mtok: -1 } }] },
        ]),
        'openai/m: input_mtok is below zero',
      ],
      ['./nothing-there.json', 'no file or folder'],
    ]
    for (const [path, message] of refused) {
      const { code, errors } = await run(['update', path, '--yes'])
      expect([path, code, errors.includes(message) ? message : errors]).toEqual([path, 1, message])
    }
    expect(await repository.loadVersion()).toBe(before)
  })

  test('a price a thousand times as high, one that vanishes and lost models need --force', async () => {
    const before = await repository.loadVersion()
    const jump = write(
      'jump.json',
      shippedData((_, model, prices) => (model === 'gpt-4o-mini' ? { ...prices, input_mtok: 151 } : prices)),
    )
    const free = write(
      'free.json',
      shippedData((_, model, prices) => (model === 'gpt-4o-mini' ? { ...prices, input_mtok: 0 } : prices)),
    )
    const lost = write(
      'lost.json',
      shippedData((provider, model, prices) =>
        provider === 'openai' && model !== 'gpt-4o-mini' ? null : prices,
      ),
    )
    for (const [path, message] of [
      [jump, 'openai/gpt-4o-mini: input goes from 0.15 to 151 USD'],
      [free, 'openai/gpt-4o-mini: input goes from 0.15 to 0 USD'],
      [lost, 'openai loses '],
    ] as const) {
      const { code, errors } = await run(['update', path, '--yes'])
      expect([code, errors.includes(message) ? message : errors]).toEqual([1, message])
    }
    expect(await repository.loadVersion()).toBe(before)
    expect((await run(['update', jump, '--yes', '--force'])).code).toBe(0)
  })

  test('an archive that unpacks to more than a list can be is refused before it is unpacked', async () => {
    const bomb = gzipSync(new Uint8Array(70_000_000))
    // An archive that is unpacked to its end is found to be damaged.
    bomb.writeUInt32LE(0, bomb.length - 8)
    writeFileSync(join(folder, 'bomb.tgz'), bomb)
    const { code, errors } = await run(['update', 'bomb.tgz', '--yes'])
    expect([code, errors]).toEqual([
      1,
      'headrace: bomb.tgz is no archive of a package: it unpacks to more than 64000000 bytes.\n',
    ])
  })

  test('a list that changes no price but names or sizes is taken, and what its rules change is shown', async () => {
    const data = shippedData((_, __, prices) => prices)
    await run(['update', write('same.json', data), '--yes', '--force'])
    const sized = structuredClone(data) as { id: string; models: Record<string, unknown>[] }[]
    const models = sized.find(({ id }) => id === 'openai')?.models ?? []
    for (const model of models) model['context_window'] = 1_234
    const quiet = await run(['update', write('sized.json', sized), '--yes'])
    expect([quiet.code, quiet.errors]).toEqual([0, ''])
    expect(quiet.output).toContain('No price changes')
    models.unshift({ id: 'cheap', match: { starts_with: 'gpt-4o' }, prices: { input_mtok: 0.0001 } })
    const greedy = await run(['update', write('greedy.json', sized), '--yes'])
    expect(greedy.code).toBe(1)
    expect(greedy.output).toMatch(/openai\/gpt-4o +input +2\.5 → 0\.0001/)
    expect(greedy.errors).toContain('openai/gpt-4o: input goes from 2.5 to 0.0001 USD')
    await run(['reset', '--yes'])
  })

  test('damaged prices do not count: a start goes on with those that were shipped', async () => {
    const newest = await repository.loadNewest()
    if (!newest) throw new Error('no prices were taken')
    await repository.insert({ ...newest, version: newest.version + 1, content: `${newest.content} ` })
    const failures: string[] = []
    const { table } = await loadPrices(
      repository,
      pricePackage,
      (failure) => void failures.push(String(failure)),
    )
    expect(table).toBe(pricePackage)
    expect(failures[0]).toContain('do not have their checksum')
  })
})
