import type { ProviderRows } from '../../../test/support/provider-rows.ts'
import { sentences, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Speechmatics. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/speechmatics/v2',
      upstream: 'enhanced',
      text: sentences,
      language: 'en',
      languageConfidence: 0.96,
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['S1', 'S2'] },
      keyterms: [['additional_vocab', '[{"content":"head race"},{"content":"sluice"}]']],
      sends: { language: ['language', 'de'], temperature: null },
      url: 'fetch_data',
      pcm: 'wav',
      config: ['config', 'transcription_config'],
    },
  ],
  languages: [
    // https://docs.speechmatics.com/speech-to-text/languages/transcription
    {
      model: 'enhanced',
      languages: (
        'ar ba eu be bn bg yue ca hr cs da nl en eo et fi fr gl de el he hi hu id ia ga it ja ko lv lt ms mt cmn mr mn no fa pl pt ' +
        'ro ru sk sl es sw sv tl ta th tr uk ur ug vi cy'
      ).split(' '),
      unknown: ['jv', 'af'],
    },
  ],
}
