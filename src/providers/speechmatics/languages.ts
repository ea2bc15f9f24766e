/**
 * Speechmatics' clients list all of ISO 639-1; the languages that it transcribes are on
 * https://docs.speechmatics.com/speech-to-text/languages/transcription, 2026-11. Packs of two languages are left out.
 */
export const speechmaticsLanguages = (
  'ar ba be bg bn ca cmn cs cy da de el en eo es et eu fa fi fr ga gl he hi hr hu ia id it ja ko lt lv ' +
  'mn mr ms mt nl no pl pt ro ru sk sl sv sw ta th tl tr ug uk ur vi yue'
).split(' ')
