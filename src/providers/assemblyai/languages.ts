/** `TranscriptLanguageCode` of AssemblyAI's own client, npm `assemblyai` 4.41.5, without the regions of English and German. */
export const assemblyAiLanguages = (
  'en es fr de it pt nl af sq am ar hy as az ba eu be bn bs br bg my ca zh hr cs da et fo fi gl ka el ' +
  'gu ht ha haw he hi hu is id ja jw kn kk km ko lo la lv ln lt lb mk mg ms ml mt mi mr mn ne no nn oc ' +
  'pa ps fa pl ro ru sa sr sn sd si sk sl so su sw sv tl tg ta tt te th bo tr tk uk ur uz vi cy yi yo'
).split(' ')
