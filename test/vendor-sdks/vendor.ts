import type { ProviderConfig } from '../../src/config-file.ts'

/** A call of the gateway: one intention, which the program of the vendor's SDK has under the same name. */
export interface Ask {
  path:
    | '/chat/completions'
    | '/responses'
    | '/messages'
    | '/embeddings'
    | '/audio/speech'
    | '/audio/transcriptions'
  /** The vendor's own name of the model. */
  upstream: string
  /** Without `model`; the sound of a transcription is added where it is missing. */
  body: Record<string, unknown>
  /** What the configuration says of the model, where its name does not tell what it can do. */
  model?: Partial<NonNullable<ProviderConfig['models']>[number]>
  /** In the place of the vendor's, where this one stands elsewhere; its fake then stands at the same path. */
  base?: string
  /** What the configuration says of the provider besides. */
  provider?: Partial<ProviderConfig>
}

/**
 * What the gateway and the SDK send otherwise for the same intention, by hand. One that is not listed fails, and so does a listed
 * one that no longer occurs.
 */
export interface Difference {
  /** Which intentions have it; all of them where it is left out. */
  of?: string
  /** As in `POST /v1/tts: body.stream`; a star stands for anything. */
  at: string
  /** What each sends, null for nothing; where both are left out, whatever they send. */
  sdk?: string | null
  ours?: string | null
  /** Why both are right. */
  why: string
}

/** A set of values that the SDK has as a type, and how the gateway comes to send one of them. */
export interface Enumeration {
  name: string
  /** The file of declarations below `node_modules`, and how the line with the union begins. */
  declared: { file: string; line: string }
  /** Asked once for each of `words`; what is found at `at` of its request must be a value of the SDK. */
  ask: (word: string) => Ask
  words: readonly string[]
  /** Of the request, as in a difference: `body.language`. */
  at: string
  /** Values of the SDK that no word leads to, with the reason. */
  unreached: Readonly<Record<string, string>>
}

/** A call that the vendor would refuse, so that the gateway must refuse it before it sends anything. */
export interface Refusal {
  ask: Ask
  why: string
}

/**
 * One vendor's official SDK beside the gateway: `sdk` of `sdk.case.ts` in the vendor's folder. Beside it stands the program that
 * asks the SDK for each intention: `sdk-program.case.ts`, or `.mjs` or `.py` where the packages are not among ours.
 */
export interface VendorSdk {
  packages: {
    registry: 'npm' | 'python'
    versions: Readonly<Record<string, string>>
    /** Too large for everybody's `node_modules`: it is installed for a proof alone. */
    isLarge?: true
  }
  /** The path of the vendor's address, and that of its fake below the mount of the simulator. */
  base: string
  simulated: string
  /** Where the fake's text stands, when that is elsewhere. */
  simulatedText?: string
  asks: Readonly<Record<string, Ask>>
  differences: readonly Difference[]
  enumerations?: readonly Enumeration[]
  refusals?: Readonly<Record<string, Refusal>>
}

/** A vendor with an SDK, as its folder tells. */
export interface Vendor extends VendorSdk {
  /** The preset, which the folder is named after. */
  slug: string
  /** The file of the program. */
  program: string
}
