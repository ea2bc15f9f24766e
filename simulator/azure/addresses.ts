import { ApiError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { ReadBody } from '../read-body.ts'

/** OpenAI's path for an operation of Azure, and the deployment in the URL. */
export interface AzureAddress {
  path: string
  /** Null when the body names the deployment as `model`. */
  deployment: string | null
}

const currentPath = /^\/openai(\/v1\/(?:chat|responses|embeddings|audio|models|files|batches)(?:\/.*)?)$/
const deploymentPath =
  /^\/openai\/deployments\/([^/]+)(\/(?:chat\/completions|embeddings|audio\/(?:transcriptions|speech)))$/
const olderBatches = /^\/openai(\/(?:files|batches)(?:\/.*)?)$/
const inferencePath = '/models/chat/completions'
const version = /^\d{4}-\d{2}-\d{2}(?:-preview)?$/

/** Whether a path below the mount belongs to Azure. */
export function isAzurePath(path: string): boolean {
  return /^\/(?:openai|models)(?:\/|$)/.test(path)
}

/** The deployment that an address of the older form names; null for any other address. */
export function azureDeploymentOf(path: string): string | null {
  const name = deploymentPath.exec(path)?.[1]
  return name === undefined ? null : decodeURIComponent(name)
}

/**
 * Reads an address of Azure. Throws `ApiError` 404 for an unknown address, and when the dated version is
 * missing.
 */
export function azureAddressOf(path: string, query: URLSearchParams): AzureAddress {
  const current = currentPath.exec(path)?.[1]
  if (current !== undefined) return { path: current, deployment: null }
  const older = deploymentPath.exec(path)?.[2]
  const isDated = version.test(query.get('api-version') ?? '')
  if (isDated && older !== undefined) return { path: `/v1${older}`, deployment: azureDeploymentOf(path) }
  const batches = olderBatches.exec(path)?.[1]
  if (isDated && batches !== undefined) return { path: `/v1${batches}`, deployment: null }
  if (isDated && path === inferencePath) return { path: '/v1/chat/completions', deployment: null }
  throw new ApiError({ status: 404, message: 'Resource not found' })
}

/** A request as OpenAI takes it: the deployment of the address counts, whatever `model` says. */
export function withDeployment<Asked extends { body: ReadBody; json: JsonObject | null }>(
  asked: Asked,
  { deployment }: AzureAddress,
): Asked {
  if (deployment === null) return asked
  const { json, body } = asked
  const { form } = body
  if (form === null) return json === null ? asked : { ...asked, json: { ...json, model: deployment } }
  const others = form.fields.filter(({ name }) => name !== 'model')
  const fields = [{ name: 'model', value: deployment }, ...others]
  return { ...asked, body: { ...body, form: { ...form, fields } } }
}
