import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Installed, Packages, PackageSet } from '../clients/packages.ts'

/** A server nobody here wrote, as it runs. */
export interface RunningServer {
  /** Its row of the gateway's configuration. */
  provider: Record<string, unknown>
  /** Public ids of what it serves; null for a kind that it does not. */
  models: Readonly<Record<'text' | 'embedding' | 'transcription' | 'speech', string | null>>
  /** Whether it holds its answers to a schema. */
  keepsSchemas: boolean
  /** Longest prompt it takes, in tokens; null when it takes any. */
  contextTokens: number | null
  /** Model and voice by which it is asked to speak without a gateway. */
  speaksAs?: { model: string; voice: string }
  /** Whether it tells the times of words. */
  tellsWords?: boolean
  stop(): Promise<void>
}

/** A server, and how it is started; where this machine lacks something, `start` rejects and says what. */
export interface RealServer {
  name: string
  packages: PackageSet | null
  start(folder: string): Promise<RunningServer>
}

/** Where a server's program, models and files are, and what the machine lacks for it. */
export async function startServer(server: RealServer, packages: Packages): Promise<RunningServer | string> {
  const installed: Installed =
    server.packages === null
      ? { folder: mkdtempSync(join(tmpdir(), 'headrace-real-')), reason: null }
      : await packages.install(server.packages)
  if (installed.reason !== null) return installed.reason
  try {
    return await server.start(installed.folder)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What a server serves that serves nothing. */
export const none = { text: null, embedding: null, transcription: null, speech: null }
