/** What the admin endpoint can change about a mount beside its faults. */
export interface MountSettings {
  /** Refuse unknown members, as OpenAI does. */
  strict: boolean
  /** Serve every model name by every text operation, as a host with models of its own. */
  anyModel: boolean
  /** Whose marks seal its thoughts: mounts of one sealer know each other's, as deployments of one provider do. */
  sealer: string
  /** `scripted` never runs a recogniser, whatever is installed. */
  transcription: 'auto' | 'scripted'
  /** `tone` never runs a synthesizer, whatever is installed. */
  speech: 'auto' | 'tone'
  /** The largest audio upload in bytes; null for what each API has itself. */
  uploadBytesMax: number | null
  /** How often a job can be looked at before it ends. */
  jobLooks: number
  /** Bytes kept of each recorded body. */
  recordedBodyBytes: number
}
