import { logTextMax } from '../core/limits/telemetry.ts'

const secrets = /\b(Bearer\s+|Basic\s+|(?:sk|gsk|pk|rk|key|tok|xai|hf|r8|fw)[-_])[\w.~+/=-]{6,}/gi
const userInfo = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi
const keyedQuery = /([?&](?:key|token|api[-_]?key|signature|secret|password)=)[^&\s]+/gi

/**
 * Free text as a log may hold it: what looks like a credential is taken out, and it is cut to a bounded length. The
 * second line of defence; the first is that lines are made of named fields and not of whatever was at hand.
 */
export function redact(text: string): string {
  const cut = text.length > logTextMax ? `${text.slice(0, logTextMax)}…` : text
  return cut.replace(userInfo, '$1[secret]@').replace(keyedQuery, '$1[secret]').replace(secrets, '$1[secret]')
}
