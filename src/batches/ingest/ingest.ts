import type { Principal } from '../../canonical/principal.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import type { BatchId } from '../../core/ids.ts'
import { batchBodyBytesMax } from '../../core/limits/batches.ts'
import type { Callbacks } from '../../delivery/callbacks.ts'
import type {
  BatchEndpoint,
  BatchLimits,
  BatchModel,
  LaneChoice,
  LaneName,
  LineFault,
} from '../../canonical/batch.ts'
import { batchEndpoints } from '../../canonical/batch.ts'
import type { PricedOffer } from '../../formats/batch/batch-object.ts'
import type { ResolveBatch, ResolvedBatch } from '../item-contract.ts'
import { joinShares, type ResolvedShare } from '../lanes/mixed-lanes.ts'
import type { JobItems } from '../lanes/native/job-contract.ts'
import { createJobFit } from '../lanes/native/job-fit.ts'
import type { Payloads } from '../results/payloads.ts'
import type { SegmentDraft } from '../running/segment-repository.ts'
import { LineScanner } from '../../formats/batch/line-scanner.ts'
import {
  emptyFileFault,
  lineFaultOf,
  lineFaultsMax,
  LinesRefused,
  modelFaultOf,
} from '../../formats/batch/line-faults.ts'
import { ByteScanner, type ScannerHandler } from '../../formats/batch/byte-scanner.ts'
import { Findings } from './findings.ts'
import { ItemChecks } from '../../formats/batch/item-checks.ts'
import type { ItemForm } from '../../formats/batch/item-form.ts'
import type { WalkedItem } from '../../formats/batch/item-walk.ts'
import { checkLineAddress } from '../../formats/batch/line-address.ts'
import { storedLine, withoutBody } from '../../formats/batch/result-line.ts'
import type { RequestHead } from '../../formats/batch/request-head.ts'
import { emptyHead, readMember, takeModel } from '../../formats/batch/request-head.ts'
import { type ModelShare, ModelShares } from './model-shares.ts'
import { SegmentWriter } from './segment-writer.ts'
import { checkContentEncoding, readUpload, tooLarge } from './upload-body.ts'

/** An upload of a batch. */
export interface IngestRequest {
  batchId: BatchId
  principal: Principal
  /** As in `CreateBatch`. */
  betas: string | null
  body: ReadableStream<Uint8Array>
  contentEncoding: string | null
  /** The header's value; null when the length is unknown. */
  contentLength: number | null
  /** How the caller writes the batch. */
  form: ItemForm
  /** What is known of the batch before its body. */
  head?: Partial<RequestHead>
  /** Whether to hash the body, so that a repetition can be recognised. */
  wantsHash: boolean
  /** Only estimate the batch; store nothing. */
  isDryRun: boolean
  /** As in `Upload`. */
  idleMs?: number
}

/** An upload without problems, whose segments are durable. A caller that does not accept it calls `discard`. */
export interface Ingested {
  endpoint: BatchEndpoint
  model: string
  /** As in `Batch`. */
  models: readonly BatchModel[] | null
  providerOnly: readonly string[] | null
  maxCostNanocredits: bigint | null
  laneChoice: LaneChoice
  callbackUrl: string | null
  dropped: readonly string[]
  lane: LaneName
  providerSlug: string | null
  /** What is set aside, and the most that the items can cost. */
  estimate: bigint
  worstCase: bigint
  /** The same for every lane that the batch could have, its own first. */
  offers: readonly PricedOffer[]
  totalItems: number
  /** After decompression. */
  requestBytes: number
  sha256: string | null
  /** Empty after a dry run. */
  segments: readonly SegmentDraft[]
  /** Removes the segments; never rejects. */
  discard(): Promise<void>
}

/** What ingest needs. */
export interface IngestDependencies {
  payloads: Payloads
  resolveBatch: ResolveBatch
  /** What the jobs of providers' batch services would run. */
  jobItems: JobItems
  callbacks: Pick<Callbacks, 'check'>
  limits: BatchLimits
}

/**
 * Reads, checks and stores an upload in flat memory, whatever the order of its members. Throws the problem of the
 * highest precedence as soon as nothing that follows could change it; then it has removed what it stored.
 */
export async function ingestBatch(
  request: IngestRequest,
  dependencies: IngestDependencies,
): Promise<Ingested> {
  checkContentEncoding(request.contentEncoding)
  const hasKnownSize = request.contentLength !== null && request.contentEncoding === null
  if (hasKnownSize && (request.contentLength ?? 0) > batchBodyBytesMax) {
    await request.body.cancel().catch(() => undefined)
    throw tooLarge()
  }
  const ingest = new Ingest(request, dependencies)
  try {
    await ingest.read(hasKnownSize)
    return await ingest.finish()
  } catch (thrown) {
    await ingest.discard()
    throw thrown
  }
}

/** One upload on its way. */
class Ingest {
  readonly #request: IngestRequest
  readonly #dependencies: IngestDependencies
  readonly #head: RequestHead
  readonly #checks: ItemChecks
  readonly #findings = new Findings()
  readonly #shares: ModelShares
  readonly #hasher: Bun.CryptoHasher | null
  #sawRequests = false
  #bytes = 0

  readonly #placeOf = (offset: number) => this.#scanner.placeInValue(offset)
  readonly #scanner: ByteScanner | LineScanner
  /** What is wrong with the lines of a file; empty for the other forms, whose first fault is an answer. */
  readonly #lineFaults: LineFault[] = []

  constructor(request: IngestRequest, dependencies: IngestDependencies) {
    this.#request = request
    this.#dependencies = dependencies
    this.#head = { ...emptyHead(request.form), ...request.head }
    this.#checks = new ItemChecks(request.form)
    this.#scanner = request.form.isLines ? this.#newLineScanner() : this.#newScanner()
    this.#shares = new ModelShares(() => new SegmentWriter(dependencies.payloads, request.batchId))
    this.#hasher = request.wantsHash ? new Bun.CryptoHasher('sha256') : null
  }

  #newScanner(): ByteScanner {
    const { form } = this.#request
    const context = { placeOf: this.#placeOf, form }
    const handler: ScannerHandler = {
      member: (name, value) => this.#collect(() => readMember(this.#head, name, value, context)),
      requestsBegin: () => {
        this.#sawRequests = true
        // Resolving takes a moment, and the items that follow need its result.
        scanner.pause()
      },
      item: (index, value, walked) => this.#collect(() => this.#takeItem(index, value, walked)),
      oversizedItem: (index, head) =>
        this.#collect(() => {
          this.#requireFew(index)
          this.#takeOversized(this.#checks.checkOversized(index, head))
        }),
    }
    const scanner = new ByteScanner(handler, form)
    return scanner
  }

  #newLineScanner(): LineScanner {
    const { form } = this.#request
    const noting = (index: number, check: () => void) => {
      try {
        check()
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
        if (this.#lineFaults.length < lineFaultsMax)
          this.#lineFaults.push(lineFaultOf(thrown, { index, line: scanner.line }))
      }
    }
    const scanner = new LineScanner(
      {
        item: (index, value, walked) =>
          noting(index, () => {
            checkLineAddress(value, walked, this.#head.endpoint)
            this.#takeItem(index, value, walked)
            this.#checkModels(this.#checks.firstModel)
          }),
        oversizedItem: (index, head) =>
          noting(index, () => this.#takeOversized(this.#checks.checkOversized(index, head))),
      },
      form,
    )
    return scanner
  }

  /** A line that names another model is told once. */
  #checkModels(model: string | null): void {
    if (model === null || this.#lineFaults.some(({ code }) => code === 'model_mismatch')) return
    this.#checks.checkModels(model)
  }

  /** Reads to the end, or until the answer is certain. */
  async read(hasKnownSize: boolean): Promise<void> {
    let isBroken = false
    if (this.#request.form.isLines) {
      this.#sawRequests = true
      await this.#beginItems()
    }
    for await (const slice of readUpload(this.#request)) {
      this.#bytes += slice.byteLength
      // While the size is unknown, a body with a problem may still become too large, and that problem has precedence.
      if (this.#findings.isFinal && hasKnownSize) break
      if (isBroken || this.#findings.isFinal) continue
      this.#hasher?.update(slice)
      isBroken = !(await this.#scan(slice))
      await this.#shares.room()
    }
    if (!isBroken && !this.#findings.isFinal) this.#collect(() => this.#scanner.end())
    if (!this.#findings.isFinal) this.#collect(() => this.#checkCompleteness())
  }

  /** Throws the problem that was found; else resolves what is still open and makes everything durable. */
  async finish(): Promise<Ingested> {
    const { endpoint, model, providerOnly, maxCostNanocredits, laneChoice, callbackUrl, dropped } = this.#head
    if (this.#request.form.isLines) this.#refuseLines()
    await this.#checkCallback(callbackUrl)
    const resolved = this.#findings.isFinal ? [] : await this.#resolveShares()
    const { worst } = this.#findings
    if (this.#request.form.isLines && worst?.param === 'model')
      throw new LinesRefused([modelFaultOf(worst)], model ?? '')
    this.#findings.throwIfAny()
    assert(endpoint !== null && model !== null, 'a head without findings is complete')
    const priced: ResolvedShare[] = []
    for (const each of resolved) priced.push(await priceShare(each, endpoint))
    const { models, lane, providerSlug, estimate, worstCase, offers } = joinShares(priced)
    const segments = await this.#shares.finish(models, lane)
    return {
      endpoint,
      model,
      models: models.length > 1 ? models : null,
      providerOnly,
      maxCostNanocredits,
      laneChoice,
      callbackUrl,
      dropped,
      lane,
      providerSlug,
      estimate,
      worstCase,
      offers,
      totalItems: this.#scanner.itemCount,
      requestBytes: this.#bytes,
      sha256: this.#hasher?.digest('hex') ?? null,
      segments,
      discard: () => this.discard(),
    }
  }

  /** Throws what is wrong with the lines, unless something is wrong with the whole request. */
  #refuseLines(): void {
    this.#findings.throwIfAny()
    if (this.#scanner.itemCount === 0) throw new LinesRefused([emptyFileFault], '')
    if (this.#lineFaults.length > 0) throw new LinesRefused(this.#lineFaults, this.#checks.firstModel ?? '')
  }

  discard(): Promise<void> {
    return this.#shares.discard()
  }

  /** False when the body is too broken to read on. */
  async #scan(slice: Uint8Array): Promise<boolean> {
    try {
      this.#scanner.push(slice)
      while (this.#scanner.isPaused) {
        await this.#beginItems()
        this.#scanner.resume()
      }
      return true
    } catch (thrown) {
      this.#findings.add(toGatewayError(thrown))
      return false
    }
  }

  async #beginItems(): Promise<void> {
    const { endpoint } = this.#head
    // What is wrong with the head is answered before the items are read, where the head comes first.
    await this.#resolve(0)
    this.#shares.begin(endpoint === null ? batchEndpoints : [endpoint])
  }

  /** Resolves the items of each model; fewer where one of them is refused. */
  async #resolveShares(): Promise<(Unpriced & { resolved: ResolvedBatch })[]> {
    const { model } = this.#head
    const shares = this.#request.form.mixesModels ? this.#shares.all : [this.#shares.last]
    const found: (Unpriced & { resolved: ResolvedBatch })[] = []
    for (const share of shares) {
      const own = share.model ?? model
      const items = shares.length === 1 ? this.#scanner.itemCount : share.items
      const resolved = await this.#resolve(items, own)
      if (resolved === null || own === null) continue
      const unpriced = { share, model: own, items }
      const judged = await this.#judge(unpriced, resolved)
      if (judged !== null) found.push({ ...unpriced, resolved: judged })
    }
    return found
  }

  /** Resolves again by what a provider's jobs would run of the items, where they would not run all; null when that is refused. */
  async #judge({ share, model, items }: Unpriced, resolved: ResolvedBatch): Promise<ResolvedBatch | null> {
    const { endpoint, providerOnly } = this.#head
    if (endpoint === null || !resolved.offers.some(({ lane }) => lane === 'native')) return resolved
    const { principal, betas } = this.#request
    const asked = { principal, endpoint, model, providerOnly, betas }
    const fitsJob = createJobFit(this.#dependencies.jobItems, asked)
    if (fitsJob === null) return resolved
    const elsewhere = await share.groupsFor(endpoint).judge(fitsJob)
    return elsewhere === 0 ? resolved : this.#resolve(items, model, items - elsewhere)
  }

  /** Resolves the head as far as it is known, for so many items; null when it is not complete or is refused. */
  async #resolve(items: number, model = this.#head.model, jobItems?: number): Promise<ResolvedBatch | null> {
    const { endpoint, providerOnly, laneChoice: lane } = this.#head
    if (endpoint === null || model === null) return null
    const { principal } = this.#request
    try {
      const question = { principal, endpoint, model, providerOnly, lane, items }
      return await this.#dependencies.resolveBatch({
        ...question,
        ...(jobItems === undefined ? {} : { jobItems }),
      })
    } catch (thrown) {
      this.#findings.add(toGatewayError(thrown))
      return null
    }
  }

  async #checkCallback(url: string | null): Promise<void> {
    if (url === null || this.#findings.isFinal) return
    try {
      await this.#dependencies.callbacks.check(url)
    } catch (thrown) {
      this.#findings.add(toGatewayError(thrown))
    }
  }

  #takeItem(index: number, bytes: Buffer, walked: WalkedItem | null): void {
    this.#requireFew(index)
    const body = this.#checks.check(index, bytes, walked, this.#placeOf)
    // After the first finding nothing will be accepted, so nothing needs to be kept.
    if (this.#findings.worst !== null || this.#lineFaults.length > 0) return
    const hasLineBreaks = walked === null || walked.hasLineBreaks
    const { request, mixesModels } = this.#request.form
    const share = this.#shares.of(mixesModels ? this.#checks.lastModel : null)
    if (request === 'body') this.#keep(share, bytes, hasLineBreaks)
    else this.#keep(share, storedLine(bytes, body, walked), hasLineBreaks)
    share.measure(bytes, body, walked)
  }

  /** It fails by itself, beside the items of the model that was named last. */
  #takeOversized(customId: string): void {
    const share = this.#shares.last
    this.#keep(share, withoutBody(customId), false)
    share.count()
  }

  #requireFew(index: number): void {
    const { items } = this.#dependencies.limits
    if (items === null || index < items) return
    const message = `This gateway takes at most ${items} requests in one batch; send the others as another one.`
    const param = this.#request.form.isLines ? 'input_file_id' : 'requests'
    this.#findings.add(new GatewayError('payload_too_large', message, { param }))
  }

  #keep({ writer }: ModelShare, bytes: Uint8Array, hasLineBreaks: boolean): void {
    if (!this.#request.isDryRun && this.#findings.worst === null) writer.add(bytes, hasLineBreaks)
  }

  #checkCompleteness(): void {
    const { firstModel } = this.#checks
    const { isLines } = this.#request.form
    if (isLines && (this.#scanner.itemCount === 0 || this.#lineFaults.length > 0)) return
    if (this.#request.form.namesModel) this.#takeModels(firstModel)
    const { endpoint, model } = this.#head
    const isRefused = (field: string): boolean => this.#findings.worst?.param === field
    if (endpoint === null && !isRefused('endpoint')) throw required('endpoint')
    if (model === null && !this.#request.form.namesModel && !isRefused('model')) throw required('model')
    if (!this.#sawRequests) throw required('requests')
    if (this.#scanner.itemCount === 0) {
      throw new GatewayError('invalid_request', 'requests must have at least one item.', {
        param: 'requests',
      })
    }
    if (model !== null) this.#checks.checkModels(model)
  }

  /** Takes the model that the items name for that of the batch: the first, where they name several. */
  #takeModels(firstModel: string | null): void {
    for (const model of this.#checks.mixedModels) takeModel(this.#head, model)
    if (firstModel !== null) takeModel(this.#head, firstModel)
    else if (this.#scanner.itemCount > 0 && this.#findings.worst === null)
      throw new GatewayError('payload_too_large', 'No request of the batch is small enough to be read.')
  }

  #collect(check: () => void): void {
    try {
      check()
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      this.#findings.add(thrown)
    }
  }
}

/** The items of one model, resolved. */
interface Unpriced {
  share: ModelShare
  model: string
  items: number
}

const unbilled = () => ({ estimate: 0n, worstCase: 0n })

async function priceShare(
  { share, model, items, resolved }: Unpriced & { resolved: ResolvedBatch },
  endpoint: BatchEndpoint,
): Promise<ResolvedShare> {
  const groups = share.groupsFor(endpoint)
  const live = resolved.offers.find(({ lane }) => lane === 'emulated')?.estimateItem
  // What jobs do not run goes on live, or fails unbilled where nothing may leave the lane.
  const beside = resolved.heldLane === 'native' ? unbilled : live
  const offers: PricedOffer[] = []
  for (const { lane, estimateItem } of resolved.offers) {
    const price = await groups.price(estimateItem, lane === 'native' ? beside : estimateItem)
    offers.push({ lane, ...price })
  }
  return { model, items, resolved, offers }
}

function required(field: string): GatewayError {
  return new GatewayError('invalid_request', `${field} is required.`, { param: field })
}
