/** Where the payloads are on an S3-compatible server, and the key for it. */
export interface S3Settings {
  /** The server's address, without a path and without a slash at the end. */
  endpoint: string
  region: string
  bucket: string
  /** In front of every key; no slash at either end; empty for none. */
  prefix: string
  /** How an address names the bucket: as the first part of its path, or in front of the host. */
  addressing: 'path' | 'host'
  accessKeyId: string
  secretAccessKey: string
  /** Only with temporary keys. */
  sessionToken: string | null
}

/** The bucket's address without a slash at the end. */
export function bucketUrl({ endpoint, bucket, addressing }: S3Settings): string {
  return addressing === 'path' ? `${endpoint}/${bucket}` : endpoint.replace('://', `://${bucket}.`)
}

/** The store's place for an operator; never a secret. */
export function describeS3({ endpoint, bucket, prefix }: S3Settings): string {
  return `s3://${bucket}${prefix === '' ? '' : `/${prefix}`} at ${endpoint}`
}
