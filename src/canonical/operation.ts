/** What a caller can ask for. A batch's JSON field `endpoint` names one of these. */
export type OperationName = 'chat_completions' | 'embeddings' | 'transcription' | 'speech'

/** What kind of model serves an operation. */
export type Modality = 'language' | 'embedding' | 'transcription' | 'speech'

/** A wire format of text operations; callers speak the first two today, upstreams too. */
export type TextFormat = 'chat' | 'embeddings'
