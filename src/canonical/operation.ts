/** What a caller can ask for. A batch's JSON field `endpoint` names one of these. */
export type OperationName =
  | 'chat_completions'
  | 'responses'
  | 'messages'
  | 'embeddings'
  | 'transcription'
  | 'speech'

/** What kind of model serves an operation. */
export type Modality = 'language' | 'embedding' | 'transcription' | 'speech'

/** A wire format of text operations; providers alone speak the last, for conversations and embeddings. */
export type TextFormat = 'chat' | 'responses' | 'messages' | 'embeddings' | 'gemini'
