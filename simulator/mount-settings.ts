import type { BatchServiceName } from './openai-batches/services.ts'

/** The settings of a mount, besides its faults, that the admin endpoint can change. */
export interface MountSettings {
  /** Refuse unknown members, as OpenAI does. */
  strict: boolean
  /** Serve every model name by every text operation, as a host with models of its own. */
  anyModel: boolean
  /**
   * The name that seals its thoughts: mounts with the same name accept each other's seals, like deployments of one
   * provider.
   */
  sealer: string
  /** `scripted` never runs a recogniser, whatever is installed. */
  transcription: 'auto' | 'scripted'
  /** `tone` never runs a synthesizer, whatever is installed. */
  speech: 'auto' | 'tone'
  /** The largest audio upload in bytes; null for each API's own limit. */
  uploadBytesMax: number | null
  /** The number of polls until a job ends. */
  jobLooks: number
  /** Whose files and batches it has below `/v1`. */
  batchService: BatchServiceName
  /** The share of requests for the tier `flex` that is refused for want of room, from 0 to 1. */
  flexRefused: number
  /** Bytes kept of each recorded body. */
  recordedBodyBytes: number
}
