import type { CohereModel } from '../../formats/text/cohere/quirks.ts'

/** What a model takes of the format, by its name. */
export function commandOf(model: string): CohereModel {
  return {
    canThink: /reasoning|command-a-plus/.test(model),
    hasImages: /vision|command-a-plus/.test(model),
    // The oldest models have no tools.
    hasTools: !/^command(?:-light|-nightly)?$/.test(model),
  }
}
