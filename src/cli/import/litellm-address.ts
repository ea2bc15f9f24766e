import type { Preset } from '../../providers/define-provider.ts'
import { findPreset } from '../../providers/registry.ts'
import { isAnyServer } from './litellm-providers.ts'

/** The place of a deployment: its preset and URL. */
export interface Address {
  preset: Preset
  /** Absent when it is the provider's own. */
  baseUrl?: string
  query?: Readonly<Record<string, string>>
  /** The other parts of the URL; any of them may be a secret. */
  secrets: { query: Readonly<Record<string, string>>; authorization: string | null }
  /** The deployment in an Azure URL, which may differ from the model's name. */
  deployment: string | null
}

/** LiteLLM's settings for a deployment. */
interface Given {
  provider: string
  preset: Preset
  apiBase: string | null
  apiVersion: string | null
}

/** A preset, and a URL up to its version; null for an invalid URL. */
export function addressOf({ provider, preset, apiBase, apiVersion }: Given): Address | null {
  if (apiBase === null) return { preset, ...nothingBeside }
  if (!URL.canParse(apiBase)) return null
  const url = new URL(apiBase)
  if (!/^https?:$/.test(url.protocol)) return null
  const { 'api-version': writtenVersion, ...query } = Object.fromEntries(url.searchParams)
  const beside = { ...nothingBeside, secrets: { query, authorization: loginOf(url) } }
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(operationPath, '')
  if (preset.slug === 'azure') {
    const deployment = deploymentPath.exec(base)?.[1] ?? null
    const resource = base.replace(deploymentPath, '')
    return { preset, ...beside, deployment, ...azureAddress(resource, apiVersion ?? writtenVersion ?? null) }
  }
  const versioned = writtenVersion === undefined ? {} : queryOf(writtenVersion)
  const rest = { ...beside, ...versioned }
  const baseUrl = preset.slug === 'anthropic' ? withVersion(base.replace(/\/v1\/messages$/, '')) : base
  if (baseUrl === preset.baseUrl) return { preset, ...rest }
  const isOwn = preset.baseUrl !== null && url.host === new URL(preset.baseUrl).host
  const custom = findPreset('custom')
  // With this provider's name LiteLLM calls any server of the format, whose prices and models are its own.
  if (isAnyServer(provider) && !isOwn && custom) return { preset: custom, baseUrl, ...rest }
  return { preset, baseUrl, ...rest }
}

const nothingBeside: Pick<Address, 'secrets' | 'deployment'> = {
  secrets: { query: {}, authorization: null },
  deployment: null,
}

/** Some URLs include an operation's path, which the gateway adds itself. */
const operationPath = /\/(?:chat\/completions|completions|embeddings|responses)$/
const deploymentPath = /(?<=\/openai)\/deployments\/([^/]+)$/

/** The user and the password of a URL, as a header value. */
function loginOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(login).toString('base64')}`
}

function withVersion(base: string): string {
  return /\/v\d+$/.test(base) ? base : `${base}/v1`
}

/** The versions of the newer interface, which has no version in its query. */
const currentVersions: ReadonlySet<string> = new Set(['v1', 'latest', 'preview'])

function azureAddress(base: string, version: string | null): Pick<Address, 'baseUrl' | 'query'> {
  // The URL is already in one of the preset's forms.
  if (/\/(?:openai|openai\/v1|models|anthropic)$/.test(base))
    return { baseUrl: base, ...queryOf(base.endsWith('/v1') ? null : version) }
  const isCurrent = version === null || currentVersions.has(version)
  return isCurrent ? { baseUrl: `${base}/openai/v1` } : { baseUrl: `${base}/openai`, ...queryOf(version) }
}

function queryOf(version: string | null): Pick<Address, 'query'> {
  return version === null ? {} : { query: { 'api-version': version } }
}

/** A name for a deployment, from its URL without the version, such as `llm-acme-example` or `10-0-0-5-8000`. */
export function idOfAddress(url: string): string {
  const { host, pathname } = new URL(url)
  const place = `${host}${pathname.replace(/\/v\d+\/?$/, '')}`
  const words = place.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return words.replaceAll(/^-+|-+$/g, '').slice(0, idLengthMax)
}

/** An id has up to 64 characters; a number may be appended. */
const idLengthMax = 56
