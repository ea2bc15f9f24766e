import { systemClock } from '../../src/core/clock.ts'
import type { S3Settings } from '../../src/storage/blobs/s3-settings.ts'
import type { BlobServer } from '../../src/storage/open-storage.ts'
import { createTransport } from '../../src/transport/http-client.ts'
import { createSignedSend } from '../../src/transport/signed-send.ts'

/** A bucket as the gateway reaches it. */
export function blobServerOf(settings: S3Settings): BlobServer {
  return { settings, send: createSignedSend(createTransport({ clock: systemClock })) }
}
