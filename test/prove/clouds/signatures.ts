import { signedHeaders } from '../../../src/transport/aws-signature.ts'
import { createPackages } from '../../clients/packages.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'
import { askLibraries, cloudLibraries, drawFrom } from './libraries.ts'

const cases = 200

export const proof: Proof = {
  title: 'signatures of requests against botocore, on the same requests, keys and times',
  async run() {
    const packages = createPackages()
    try {
      const { folder, reason } = await packages.install(cloudLibraries)
      if (folder === null) return notRun(reason)
      return combine([await proveSignatures(folder)])
    } finally {
      packages.remove()
    }
  },
}

const characters = 'abcXYZ019-_.~ :/+@&=%?#é€😀'

async function proveSignatures(folder: string): Promise<ProofResult> {
  const draw = drawFrom(26)
  const asked = Array.from({ length: cases }, () => requestOf(draw))
  const told = await askLibraries(folder, asked)
  const problems: string[] = []
  for (const [index, { method, url, body, keys, nowMs }] of asked.entries()) {
    const theirs = told[index]?.told as Record<string, string> | undefined
    if (theirs === undefined) {
      problems.push(`botocore failed: ${told[index]?.failed}`)
      continue
    }
    const ours = await signedHeaders(
      { method, url, headers: {}, body: body === '' ? null : body },
      keys,
      nowMs,
    )
    for (const name of ['authorization', 'x-amz-date', 'x-amz-security-token'])
      if (ours[name] !== theirs[name])
        problems.push(`${method} ${url}: ${name} is ${ours[name]} and not ${theirs[name]}`)
  }
  return {
    status: problems.length === 0 ? 'PASS' : 'FAIL',
    figures: [`${cases} requests signed, ${problems.length} differently`, ...problems.slice(0, 5)],
  }
}

function requestOf(draw: ReturnType<typeof drawFrom>) {
  const text = (length: number) =>
    Array.from({ length: draw.upTo(length) }, () => draw.in(characters)).join('')
  const model = `${draw.of(['us.anthropic.claude-x-v1:0', 'arn:aws:bedrock:eu-west-1:1:inference-profile/a.b-c', ''])}${text(12)}`
  const query = draw.upTo(3)
  const members = Array.from({ length: query }, (_, at) => `k${at}=${encodeURIComponent(text(8))}`)
  const host = draw.of([
    'bedrock-runtime.us-east-1.amazonaws.com',
    'localhost:8080',
    'bedrock-mantle.eu-west-1.api.aws',
  ])
  return {
    kind: 'sign',
    method: draw.of(['POST', 'GET', 'PUT']),
    url: `https://${host}/model/${encodeURIComponent(model)}/${draw.of(['converse', 'invoke'])}${query === 0 ? '' : `?${members.join('&')}`}`,
    body: draw.of(['', '{}', `{"text":"${text(400)}"}`]),
    keys: {
      type: 'signature' as const,
      accessKeyId: `AKIA${draw.upTo(1e9)}`,
      secret: text(40) || 's',
      sessionToken: draw.of([null, `token/${draw.upTo(1e9)}+=`]),
      service: draw.of(['bedrock', 'bedrock-mantle', 'sts']),
      region: draw.of(['us-east-1', 'eu-central-2', 'cn-north-1']),
    },
    nowMs: 1_600_000_000_000 + draw.upTo(4e11),
  }
}
