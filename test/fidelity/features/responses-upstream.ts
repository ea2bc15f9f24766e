import { approximated, carried, dropped, refused, type Caller, type Cell, type Row } from '../table.ts'
import { responsesAnswers } from './responses-answers.ts'

// What a provider of OpenAI's responses gets of a request, by the rows of the other files: OpenAI itself, with a model that
// thinks. Expectations follow the format's documents and ADR 8.

const asked: Readonly<Record<string, Readonly<Partial<Record<Caller, Cell>>>>> = {
  // Several instructions before the conversation
  H1: {
    chat: carried({
      instructions: 'Be brief.\n\nBe kind.',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
    }),
    responses: carried({
      input: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: 'Hi.' },
      ],
      instructions: 'Be brief.',
    }),
    messages: carried({
      instructions: 'Be brief.\n\nBe kind.',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
    }),
  },
  // Instructions in the middle, for a model that takes them there
  H2: {
    chat: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be kind.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'So?' }] },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: 'So?' },
      ],
    }),
    messages: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be kind.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'So?' }] },
      ],
    }),
  },
  // Instructions in the middle, for a model that takes them only before
  H3: {
    chat: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be kind.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'So?' }] },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'So?' },
      ],
    }),
    messages: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be kind.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'So?' }] },
      ],
    }),
  },
  // Many turns, several of one side in a row
  H4: {
    chat: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'One.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Two.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Three.' }] },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'One.' }] },
        { role: 'user', content: 'Two.' },
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { role: 'user', content: 'Three.' },
      ],
    }),
    messages: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'One.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Two.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Three.' }] },
      ],
    }),
  },
  // Name of who speaks
  H5: {
    chat: dropped(['messages[].name'], ['input.0.name'], {
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
    }),
  },
  // Image by address
  H6: {
    chat: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }],
        },
      ],
    }),
    responses: carried({
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }],
    }),
    messages: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }],
        },
      ],
    }),
  },
  // Image as base64
  H7: {
    chat: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
        },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }] },
      ],
    }),
    messages: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
        },
      ],
    }),
  },
  // Detail of an image
  H8: {
    chat: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' }],
        },
      ],
    }),
    responses: carried({
      input: [
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' }],
        },
      ],
    }),
  },
  // Image by an id that a provider gave
  H9: {
    responses: carried({ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] }),
    messages: refused('messages[0]'),
  },
  // PDF as base64
  H10: {
    chat: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' },
          ],
        },
      ],
    }),
    responses: carried({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' },
          ],
        },
      ],
    }),
    messages: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' },
          ],
        },
      ],
    }),
  },
  // PDF by an address that the provider does not fetch
  H11: {
    chat: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' },
          ],
        },
      ],
    }),
    responses: carried({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=', filename: 'a.pdf' },
          ],
        },
      ],
    }),
    messages: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            {
              type: 'input_file',
              filename: 'document.pdf',
              file_data: 'data:application/pdf;base64,JVBERi0xLjQ=',
            },
          ],
        },
      ],
    }),
  },
  // File by an id that a provider gave
  H12: {
    chat: refused('messages[0]'),
    responses: carried({ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }),
    messages: refused('messages[0]'),
  },
  // Document of plain text
  H13: {
    chat: carried({
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a.txt\nHi there.' }] }],
    }),
    responses: carried({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,SGkgdGhlcmUu' },
          ],
        },
      ],
    }),
    messages: carried({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: 'a.txt\nA note.\nHi there.' }],
        },
      ],
    }),
  },
  // Document that the answer is to cite
  H14: {
    messages: refused('messages[0]'),
  },
  // Sound to listen to
  H15: {
    chat: refused('messages[0]'),
  },
  // A kind of part that only its own format has
  H16: {
    chat: refused('messages[0]'),
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      ],
    }),
    messages: refused('messages[0]'),
  },
  // A refusal that was said before
  H17: {
    chat: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        { role: 'user', content: 'Why?' },
      ],
    }),
  },
  // Citations in what was said before
  H18: {
    chat: dropped(['messages[].annotations'], ['input.1.content.0.annotations.0'], {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        {
          role: 'assistant',
          content: [
            {
              type: 'output_text',
              text: 'Yes.',
              annotations: [{ type: 'url_citation', url: 'https://example.com/a.png' }],
            },
          ],
        },
        { role: 'user', content: 'Why?' },
      ],
    }),
    messages: dropped(['messages[].content[].citations'], ['input.1.content.0.citations'], {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
      ],
    }),
  },
  // Members inside messages that nobody knows
  H19: {
    chat: dropped(
      ['messages[].content[].my_tag', 'messages[].provider_specific_fields'],
      ['input.0.content.0.my_tag', 'input.1.provider_specific_fields'],
      {
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
          },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
        ],
      },
    ),
    responses: carried({
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi.', my_tag: 1 }], my_mark: 1 }],
    }),
    messages: dropped(
      ['messages[].content[].my_tag', 'messages[].my_mark'],
      ['input.0.content.0.my_tag', 'input.0.my_mark'],
      { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }] },
    ),
  },
  // Members inside messages that nobody knows, for a server that takes any
  H20: {
    chat: dropped(
      ['messages[].content[].my_tag', 'messages[].my_mark'],
      ['input.0.content.0.my_tag', 'input.0.my_mark'],
      { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }] },
    ),
    responses: carried({ input: [{ role: 'user', content: 'Hi.', my_mark: 1 }] }),
    messages: dropped(['messages[].my_mark'], ['input.0.my_mark'], {
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
    }),
  },
  // Marks of a prompt cache
  H21: {
    chat: dropped(['messages[].content[].cache_control'], ['input.0.content.0.cache_control'], {
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
    }),
    messages: dropped(
      ['messages[].content[].cache_control', 'system[].cache_control', 'tools[].cache_control'],
      ['input.0.content.0.cache_control', 'system', 'tools.0.cache_control'],
      {
        instructions: 'Be brief.',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
        tools: [{ type: 'function', name: 'a', parameters: { type: 'object' }, strict: false }],
      },
    ),
  },
  // Marks of a prompt cache, for a server of one’s own that takes them as the operator says (`cache_marks`)
  H22: {
    chat: dropped(['messages[].content[].cache_control'], ['input.0.content.0.cache_control'], {
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
    }),
    messages: dropped(['messages[].content[].cache_control'], ['input.0.content.0.cache_control'], {
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
    }),
  },
  // Instructions, and nobody who says anything
  H24: {
    chat: carried({
      input: [{ type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] }],
    }),
    responses: carried({ input: [{ role: 'system', content: 'Be brief.' }] }),
  },
  // Marks of a prompt cache, for a server of one’s own of which nothing is said
  H23: {
    chat: dropped(
      ['cache_control', 'messages[].content[].cache_control'],
      ['cache_control', 'input.0.content.0.cache_control'],
      { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }] },
    ),
    messages: dropped(
      [
        'cache_control',
        'messages[].content[].cache_control',
        'system[].cache_control',
        'tools[].cache_control',
      ],
      ['cache_control', 'input.0.content.0.cache_control', 'system', 'tools.0.cache_control'],
      {
        instructions: 'Be brief.',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
        tools: [{ type: 'function', name: 'a', parameters: { type: 'object' }, strict: false }],
      },
    ),
  },
  // Declarations, strict and not
  T1: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: true,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: true,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
    }),
    messages: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: true,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
  },
  // The model may choose
  T2: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'auto',
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      tool_choice: 'auto',
    }),
    messages: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'auto',
    }),
  },
  // Some tool must be called
  T3: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'required',
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      tool_choice: 'required',
    }),
    messages: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'required',
    }),
  },
  // No tool may be called
  T4: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'none',
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      tool_choice: 'none',
    }),
    messages: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'none',
    }),
  },
  // One named tool must be called
  T5: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: { type: 'function', name: 'b' },
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      tool_choice: { type: 'function', name: 'b' },
    }),
    messages: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: { type: 'function', name: 'b' },
    }),
  },
  // Some of the tools are allowed
  T6: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] },
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'b' }] },
    }),
  },
  // One call at a time
  T7: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      parallel_tool_calls: false,
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      parallel_tool_calls: false,
    }),
    messages: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
    }),
  },
  // Two calls in one turn, and their results
  T8: {
    chat: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
        { type: 'function_call_output', call_id: 'c2', output: 'rain' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'So?' }] },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
        { type: 'function_call_output', call_id: 'c2', output: 'rain' },
        { role: 'user', content: 'So?' },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
    }),
    messages: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
        { type: 'function_call_output', call_id: 'c2', output: 'rain' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'So?' }] },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
  },
  // Arguments in the history that are no JSON
  T9: {
    chat: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":' },
        { type: 'function_call_output', call_id: 'c1', output: 'broken' },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":' },
        { type: 'function_call_output', call_id: 'c1', output: 'broken' },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
    }),
  },
  // An image in a result
  T10: {
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [
            { type: 'input_text', text: 'Look:' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
          ],
        },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
    }),
    messages: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [
            { type: 'input_text', text: 'Look:' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
          ],
        },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
  },
  // A result that says the tool failed
  T11: {
    messages: approximated('told in words', ['messages[].content[].is_error'], {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'The tool failed:\nNo such city.' },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
  },
  // Custom tools, whose input is free text
  T12: {
    chat: carried({
      tools: [{ type: 'custom', name: 'a', description: 'It runs.', format: { type: 'text' } }],
    }),
    responses: carried({
      tools: [{ type: 'custom', name: 'a', description: 'It runs.', format: { type: 'text' } }],
    }),
  },
  // Custom tools whose input follows a grammar
  T13: {
    chat: carried({
      tools: [{ type: 'custom', name: 'a', format: { type: 'grammar', syntax: 'regex', definition: 'a+' } }],
    }),
    responses: carried({
      tools: [{ type: 'custom', name: 'a', format: { type: 'grammar', syntax: 'regex', definition: 'a+' } }],
    }),
  },
  // Tools that the provider itself runs
  T14: {
    chat: refused('tools'),
    responses: carried({ tools: [{ type: 'web_search' }] }),
    messages: refused('tools'),
  },
  // Members of a tool that only its own format has
  T15: {
    chat: dropped(['tools[].my_tag'], ['tools.0.my_tag'], {
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          defer_loading: true,
        },
      ],
    }),
    messages: dropped(['tools[].input_examples'], ['tools.0.input_examples'], {
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
  },
  // Functions by their older members
  T16: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: { type: 'function', name: 'a' },
    }),
  },
  // A tool that a search has found, named in its result
  T17: {
    messages: approximated('told by its name', ['messages[].content[].content'], {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [
            { type: 'input_text', text: 'b' },
            { type: 'input_text', text: 'c' },
          ],
        },
      ],
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
  },
  // Some tool must be called, for a chat host that does not heed the choice (Ollama)
  T18: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'required',
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      tool_choice: 'required',
    }),
    messages: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'required',
    }),
  },
  // The model may choose, for a chat host that knows nothing else (Ollama)
  T19: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'auto',
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      tool_choice: 'auto',
    }),
    messages: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'auto',
    }),
  },
  // A choice of tools that nobody knows, or that names none
  T20: {
    chat: refused('tool_choice'),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        {
          type: 'function',
          name: 'b',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
      tool_choice: 'sometimes',
    }),
    messages: refused('tool_choice.name'),
  },
  // What nobody knows of a function
  T21: {
    chat: dropped(['tools[].function.my_member'], ['tools.0.my_member'], {
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
    responses: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          my_member: 1,
        },
      ],
    }),
    messages: dropped(['tools[].my_member'], ['tools.0.my_member'], {
      tools: [
        {
          type: 'function',
          name: 'a',
          description: 'It tells.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
    }),
  },
  // Most tokens of the answer
  W1: {
    chat: carried({ max_output_tokens: 50 }),
    responses: carried({ max_output_tokens: 50 }),
    messages: carried({ max_output_tokens: 50 }),
  },
  // Any JSON object
  W2: {
    chat: carried({ text: { format: { type: 'json_object' } } }),
    responses: carried({ text: { format: { type: 'json_object' } } }),
  },
  // A schema, held to the letter
  W3: {
    chat: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    }),
    responses: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    }),
    messages: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'answer',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    }),
  },
  // A schema with what the provider cannot hold to
  W4: {
    chat: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: { type: 'object', properties: { city: { type: 'string', minLength: 2 } } },
          strict: false,
        },
      },
    }),
    responses: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: { type: 'object', properties: { city: { type: 'string', minLength: 2 } } },
        },
      },
    }),
    messages: approximated('a schema to aim at, and the answer is checked', ['output_config.format'], {
      text: {
        format: {
          type: 'json_schema',
          name: 'answer',
          schema: { type: 'object', properties: { city: { type: 'string', minLength: 2 } } },
          strict: false,
        },
      },
    }),
  },
  // A schema, for a model or host that takes none
  W5: {
    chat: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    }),
    responses: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    }),
    messages: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'answer',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    }),
  },
  // A schema that nobody can check, for a model or host that takes none
  W6: {
    chat: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: { type: 'object', $ref: 'https://example.com/place.json' },
          strict: true,
        },
      },
    }),
    responses: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: { type: 'string', not: { pattern: '(a+)+$' } },
          strict: true,
        },
      },
    }),
    messages: carried({
      text: {
        format: {
          type: 'json_schema',
          name: 'answer',
          schema: { type: 'string', not: { pattern: '(a+)+$' } },
          strict: true,
        },
      },
    }),
  },
  // Effort, for a model that thinks as it sees fit
  W7: {
    chat: carried({ reasoning: { effort: 'high', summary: 'auto' } }),
    responses: carried({ reasoning: { effort: 'high' } }),
    messages: carried({ reasoning: { effort: 'high' } }),
  },
  // Effort, for a model that thinks within a budget
  W8: {
    chat: carried({ max_output_tokens: 10000, reasoning: { effort: 'high', summary: 'auto' } }),
    responses: carried({ reasoning: { effort: 'low' }, max_output_tokens: 20000 }),
    messages: carried({ reasoning: { effort: 'medium' } }),
  },
  // A budget of tokens to think with
  W9: {
    chat: approximated('as the effort that so many tokens come to', ['reasoning.max_tokens'], {
      max_output_tokens: 10000,
      reasoning: { effort: 'low', summary: 'auto' },
    }),
    responses: approximated('as the effort that so many tokens come to', ['reasoning.max_tokens'], {
      reasoning: { effort: 'low' },
      max_output_tokens: 10000,
    }),
    messages: approximated('as the effort that so many tokens come to', ['thinking.budget_tokens'], {
      reasoning: { effort: 'low', summary: 'auto' },
    }),
  },
  // No thinking
  W10: {
    chat: carried({ reasoning: { effort: 'none' } }),
    responses: carried({ reasoning: { effort: 'none' } }),
    messages: carried({}, { absent: ['reasoning'] }),
  },
  // A summary of the thoughts
  W11: {
    chat: carried({ reasoning: { effort: 'low', summary: 'auto' } }),
    responses: carried({ reasoning: { effort: 'low', summary: 'auto' } }),
    messages: carried({ reasoning: { summary: 'auto' } }),
  },
  // Thinking while a tool must be called
  W12: {
    chat: carried({
      tools: [
        {
          type: 'function',
          name: 'a',
          parameters: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          strict: false,
        },
      ],
      tool_choice: 'required',
      reasoning: { effort: 'low', summary: 'auto' },
    }),
    responses: carried({
      reasoning: { effort: 'low' },
      tools: [
        {
          type: 'function',
          name: 'a',
          parameters: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
        },
      ],
      tool_choice: 'required',
    }),
    messages: approximated('as the effort that so many tokens come to', ['thinking.budget_tokens'], {
      tools: [
        {
          type: 'function',
          name: 'a',
          parameters: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
          strict: false,
        },
      ],
      tool_choice: 'required',
      reasoning: { effort: 'low', summary: 'auto' },
    }),
  },
  // A thought of the same provider comes back
  W13: {
    chat: dropped(['messages[].reasoning'], ['input.1.summary'], {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
      ],
    }),
    responses: dropped(['input[].reasoning'], ['input.1.summary'], {
      input: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: 'Why?' },
      ],
    }),
    messages: dropped(['messages[].content[].thinking'], ['input.1.summary'], {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
      ],
    }),
  },
  // A thought of another provider comes back
  W14: {
    chat: dropped(['messages[].reasoning'], ['input.1.summary'], {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
      ],
    }),
    responses: carried({
      input: [
        { role: 'user', content: 'Hi.' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: 'Why?' },
      ],
    }),
    messages: carried({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm.' }],
          encrypted_content: 'gAAAA',
        },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Why?' }] },
      ],
    }),
  },
  // One stop text
  W15: {
    chat: refused('stop'),
    messages: refused('stop_sequences'),
  },
  // More than four stop texts
  W16: {
    chat: refused('stop'),
    messages: refused('stop_sequences'),
  },
  // Several answers
  W17: {
    chat: refused('n'),
  },
  // Log probabilities
  W18: {
    chat: refused('logprobs'),
    responses: carried({
      top_logprobs: 2,
      include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
    }),
  },
  // `temperature` and `top_p`, for a model that takes them
  W19: {
    chat: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
    responses: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
    messages: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
  },
  // `temperature` above 1
  W20: {
    chat: dropped(['temperature'], ['temperature']),
    responses: dropped(['temperature'], ['temperature']),
  },
  // `temperature` and `top_p`, for a model that takes none
  W21: {
    chat: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
    responses: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
    messages: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
  },
  // `top_k`
  W22: {
    chat: dropped(['top_k'], ['top_k']),
    responses: dropped(['top_k'], ['top_k']),
    messages: dropped(['top_k'], ['top_k']),
  },
  // `seed`
  W23: {
    chat: dropped(['seed'], ['seed']),
  },
  // `logit_bias`
  W24: {
    chat: dropped(['logit_bias'], ['logit_bias']),
  },
  // `min_p`, `repetition_penalty`
  W25: {
    chat: dropped(['min_p', 'repetition_penalty'], ['min_p', 'repetition_penalty']),
  },
  // `presence_penalty`, `frequency_penalty`
  W26: {
    chat: dropped(['frequency_penalty', 'presence_penalty'], ['frequency_penalty', 'presence_penalty']),
    responses: dropped(['frequency_penalty', 'presence_penalty'], ['frequency_penalty', 'presence_penalty']),
  },
  // Verbosity
  W27: {
    chat: carried({ text: { verbosity: 'low' } }),
    responses: carried({ text: { verbosity: 'low' } }),
  },
  // Service tier `flex`, which the endpoint does not have
  W28: { chat: refused('service_tier', 404), responses: refused('service_tier', 404) },
  // Key of a prompt cache
  W29: {
    chat: carried({ prompt_cache_key: 'k' }),
    responses: carried({ prompt_cache_key: 'k' }),
  },
  // The caller’s own user
  W30: {
    chat: carried({ user: 'u1' }),
    responses: carried({ user: 'u1' }),
    messages: carried({ user: 'u1' }),
  },
  // Pairs of `metadata`
  W31: {
    chat: carried({ metadata: { job: 'a' } }),
    responses: carried({ metadata: { job: 'a' } }),
  },
  // Keeping the answer: `store`
  W32: {
    chat: dropped(['store'], ['previous_response_id'], { store: false }),
    responses: refused('store'),
  },
  // Going on from an answer that was kept
  W33: {
    responses: refused('previous_response_id'),
    messages: refused('previous_message_id'),
  },
  // `truncation: auto`
  W34: {
    responses: carried({ truncation: 'auto' }),
  },
  // `include` of what only the provider’s own tools have
  W35: {
    responses: carried({ include: ['reasoning.encrypted_content', 'web_search_call.action.sources'] }),
  },
  // `prediction`
  W36: {
    chat: dropped(['prediction'], ['prediction']),
  },
  // `web_search_options`
  W37: {
    chat: refused('web_search_options'),
  },
  // An answer that is spoken
  W38: {
    chat: refused('modalities'),
    responses: refused('modalities'),
  },
  // Members that nobody knows
  W39: {
    chat: dropped(['my_member'], ['my_member']),
    responses: carried({ my_member: 1 }),
    messages: dropped(['my_member'], ['my_member']),
  },
  // Editing of the context
  W40: {
    messages: dropped(['context_management'], ['context_management']),
  },
  // Most calls of tools
  W41: {
    responses: carried({ max_tool_calls: 3 }),
  },
  // Log probabilities, for a chat host that has none (Mistral)
  W42: {
    chat: refused('logprobs'),
    responses: carried({ top_logprobs: 2 }),
  },
  // A spoken answer, for a chat host that gives text alone (Mistral)
  W43: {
    chat: refused('modalities'),
    responses: refused('modalities'),
  },
  // Settings of images that the answer is to have
  W44: {
    chat: refused('image_config'),
    responses: refused('image_config'),
  },
  // A form of the answer that nobody knows
  W45: {
    responses: carried({ text: { format: { type: 'haiku' } } }),
    messages: refused('output_config.format.type'),
  },
  // A budget of tokens to think with, for a messages model that thinks as it sees fit
  W46: {
    chat: approximated('as the effort that so many tokens come to', ['reasoning.max_tokens'], {
      max_output_tokens: 10000,
      reasoning: { effort: 'low', summary: 'auto' },
    }),
    responses: approximated('as the effort that so many tokens come to', ['reasoning.max_tokens'], {
      reasoning: { effort: 'low' },
      max_output_tokens: 10000,
    }),
  },
  // An effort in a word that formats do not share
  W47: {
    chat: dropped(['reasoning_effort'], ['reasoning.effort'], { reasoning: { summary: 'auto' } }),
    responses: carried({ reasoning: { effort: 'ultra' } }),
    messages: dropped(['output_config.effort'], ['reasoning']),
  },
  // What one format alone says about thinking
  W48: {
    responses: carried({ reasoning: { effort: 'low', mode: 'pro', context: 'all_turns' } }),
    messages: dropped(['output_config.task_budget'], ['reasoning.task_budget'], {
      reasoning: { effort: 'low' },
    }),
  },
  // A verbosity in a word of its own
  W49: {
    responses: carried({ text: { verbosity: 'chatty' } }),
  },
  // Two efforts that differ: that of `reasoning` counts
  W50: {
    chat: dropped(['reasoning_effort'], ['reasoning_effort'], {
      reasoning: { effort: 'low', summary: 'auto' },
    }),
  },
  // A verbosity above the highest that formats share
  W51: {
    chat: dropped(['verbosity'], ['text.verbosity']),
    responses: carried({ text: { verbosity: 'xhigh' } }),
  },
  // Thinking that goes on behind a tool which another model called
  W52: {
    chat: carried({ reasoning: { effort: 'low' } }),
    responses: carried({ reasoning: { effort: 'low' } }),
    messages: approximated('as the effort that so many tokens come to', ['thinking.budget_tokens'], {
      reasoning: { effort: 'low' },
    }),
  },
  // A speed with a price of its own
  W53: { messages: dropped(['speed'], ['speed']) },
  // Service tier with a price of its own
  W54: {
    chat: dropped(['service_tier'], ['service_tier']),
    responses: dropped(['service_tier'], ['service_tier']),
    messages: carried({}, { absent: ['service_tier'] }),
  },
  // `temperature` and `top_p`, for a Claude that takes one of the two
  W55: {
    chat: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
    responses: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
    messages: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
  },
  // Tuning, for a chat model of OpenAI that thinks
  W56: {
    chat: dropped(
      ['frequency_penalty', 'presence_penalty', 'temperature', 'top_p'],
      ['frequency_penalty', 'presence_penalty', 'temperature', 'top_p'],
    ),
    responses: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
    messages: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
  },
  // A stop text, for a chat model of OpenAI that thinks
  W57: { chat: refused('stop'), messages: refused('stop_sequences') },
  // No thoughts in the answer: `reasoning.exclude`, or `include_reasoning: false`
  W59: {
    chat: carried({}, { absent: ['reasoning'], note: 'the gateway leaves them out' }),
    responses: carried({}, { absent: ['reasoning'], note: 'the gateway leaves them out' }),
    messages: carried({}, { absent: ['reasoning'], note: 'the gateway leaves them out' }),
  },
  // Most tokens of the answer, for a server of one’s own of which nothing is said
  W58: {
    chat: carried({ max_output_tokens: 50 }),
    responses: carried({ max_output_tokens: 50 }),
    messages: carried({ max_output_tokens: 50 }),
  },
}

/** The row with what becomes of it where a provider speaks responses. */
export function withResponses(row: Row): Row {
  if (row.kind === 'answered') {
    const answer = responsesAnswers[row.id]
    if (answer === undefined) return row
    const withCell = (caller: Caller) => ({ ...row.cells[caller], fromResponses: answer.cells[caller] })
    return {
      ...row,
      given: { ...row.given, responses: answer.given },
      cells: { chat: withCell('chat'), responses: withCell('responses'), messages: withCell('messages') },
    }
  }
  const withCell = (caller: Caller) => {
    const cells = row.cells[caller]
    const cell = asked[row.id]?.[caller]
    return 'cannotAsk' in cells || cell === undefined ? cells : { ...cells, toResponses: cell }
  }
  return {
    ...row,
    cells: { chat: withCell('chat'), responses: withCell('responses'), messages: withCell('messages') },
  }
}
