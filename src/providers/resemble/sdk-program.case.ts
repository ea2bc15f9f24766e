import type { Intentions } from '../../../test/vendor-sdks/programs/at.ts'

/** It replaces the global FormData, which other code needs. */
async function load() {
  const { FormData } = globalThis
  const { Resemble } = await import('@resemble/node')
  Object.assign(globalThis, { FormData })
  return Resemble
}

export const intentions: Intentions = {
  async speech({ url, key }) {
    const Resemble = await load()
    Resemble.setApiKey(key)
    Resemble.setSynthesisUrl(url)
    const asked = {
      data: 'Hello there',
      voice_uuid: '55592656',
      project_uuid: 'project-1',
      sample_rate: 44_100,
      precision: 'PCM_16',
    } as const
    for await (const _piece of Resemble.v2.clips.stream(asked)) continue
  },
}
