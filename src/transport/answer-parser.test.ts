import { describe, expect, test } from 'bun:test'
import { everyCut, parseAnswer } from '../../test/support/answers-testing.ts'
import { readAnswerHead } from './answer-head.ts'
import { AnswerParser } from './answer-parser.ts'

const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const lengthHead = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'

describe('an answer is the same wherever its reads are cut', () => {
  test.each([
    `${lengthHead}hello`,
    `${chunkedHead}5\r\nhello\r\n3;a=b;c\r\n<3>\r\n0\r\nx-trailer: v\r\n\r\n`,
    `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${lengthHead}hello`,
    'HTTP/1.1 204 No Content\r\nx: 1\r\nx:  2 \r\n\r\n',
    'HTTP/1.1 200\r\n\r\nuntil close',
    `${lengthHead}hellosurplus`,
    `${chunkedHead}5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n`,
  ])('%j', (text) => {
    const whole = parseAnswer(text)
    for (let cut = 1; cut < text.length; cut += 1) expect(parseAnswer(text, [cut])).toEqual(whole)
    expect(parseAnswer(text, everyCut(text))).toEqual(whole)
  })

  test('and a head that arrives byte by byte is read in linear time', () => {
    const text = `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(60_000)}\r\ncontent-length: 0\r\n\r\n`
    const before = process.cpuUsage()
    expect(parseAnswer(text, everyCut(text)).end).toBe('whole')
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
  })
})

describe('the end of an answer', () => {
  test('comes with its length, its last chunk, its status or its connection', () => {
    expect(parseAnswer(`${lengthHead}hello`)).toMatchObject({
      body: 'hello',
      end: 'whole',
      keepsConnection: true,
    })
    expect(parseAnswer(`${chunkedHead}0005\r\nhello\r\n0\r\n\r\n`)).toMatchObject({
      body: 'hello',
      end: 'whole',
    })
    expect(parseAnswer('HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n')).toMatchObject({
      end: 'whole',
    })
    const untilClose = 'HTTP/1.1 200 OK\r\n\r\nhello'
    expect(parseAnswer(untilClose)).toMatchObject({ end: 'waiting', keepsConnection: false })
    expect(parseAnswer(untilClose, [], true)).toMatchObject({ body: 'hello', end: 'whole' })
  })

  test('does not come when the connection closes before it', () => {
    for (const text of [
      '',
      'HTTP/1.1 200',
      `${lengthHead}hell`,
      chunkedHead,
      `${chunkedHead}5\r\nhello\r\n0\r\n`,
    ])
      expect(parseAnswer(text, [], true).end).toBe('waiting')
  })

  test('counts the bytes that follow it as surplus', () => {
    expect(parseAnswer(`${lengthHead}hello!`)).toMatchObject({ end: 'whole', surplus: 1 })
    expect(parseAnswer(`${chunkedHead}0\r\n\r\nHTTP/1.1`)).toMatchObject({ end: 'whole', surplus: 8 })
  })

  test('lets the connection be used again only if both sides agree', () => {
    for (const line of ['Connection: close', 'connection: keep-alive, close', 'connection: upgrade'])
      expect(parseAnswer(`HTTP/1.1 200 OK\r\n${line}\r\ncontent-length: 0\r\n\r\n`).keepsConnection).toBe(
        false,
      )
    expect(
      parseAnswer('HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n').keepsConnection,
    ).toBe(false)
  })
})

describe('refused is', () => {
  const withLine = (line: string) => `HTTP/1.1 200 OK\r\n${line}\r\n\r\n`
  test.each([
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n', 'version'],
    ['another protocol from its first byte on', 'SSH-2.0', 'version'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', 'status'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n', 'status'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'status'],
    ['a line without a return', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n', 'character in a head'],
    ['a folded line', withLine('a: b\r\n c'), 'header name'],
    ['a blank before the colon', withLine('a : b'), 'header name'],
    ['a line without a name', withLine(': b'), 'header name'],
    ['a zero byte in a value', withLine('a: b\0c'), 'character in a head'],
    ['a return in a value', withLine('a: b\rc'), 'character in a head'],
    ['two lengths', withLine('content-length: 1\r\ncontent-length: 1'), 'two lengths'],
    ['a list of lengths', withLine('content-length: 1, 1'), 'length'],
    ['a signed length', withLine('content-length: +1'), 'length'],
    ['an encoding beside chunks', withLine('transfer-encoding: gzip, chunked'), 'transfer encoding'],
    [
      'an encoding told twice',
      withLine('transfer-encoding: chunked\r\ntransfer-encoding: chunked'),
      'transfer encoding',
    ],
    ['chunks of HTTP/1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', 'transfer encoding'],
    ['a body of 204', 'HTTP/1.1 204 OK\r\ncontent-length: 1\r\n\r\n', 'body of a status that has none'],
    ['another protocol', 'HTTP/1.1 101 OK\r\n\r\n', 'another protocol'],
    ['a long head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`, 'long head'],
    ['a long head that has an end', `${withLine(`x: ${'a'.repeat(70_000)}`)}`, 'long head'],
    ['a ninth interim head', 'HTTP/1.1 103 x\r\n\r\n'.repeat(9), 'many interim heads'],
    ['a chunk without a size', `${chunkedHead}\r\n`, 'chunk size'],
    ['a chunk with a blank behind its size', `${chunkedHead}5 \r\nhello`, 'chunk extension'],
    ['a chunk of nine digits', `${chunkedHead}000000005\r\n`, 'chunk size'],
    ['a chunk with a prefix', `${chunkedHead}0x5\r\n`, 'chunk extension'],
    ['a size that ends without a return', `${chunkedHead}5\nhello`, 'chunk extension'],
    ['a chunk that is longer than its size', `${chunkedHead}5\r\nhello!\r\n`, 'end of a chunk'],
    ['an extension without a name', `${chunkedHead}5;=a\r\n`, 'chunk extension'],
    ['an extension without an end', `${chunkedHead}5;${'a'.repeat(2_000)}`, 'chunk extension'],
    ['a length in a trailer', `${chunkedHead}0\r\nContent-Length: 5\r\n\r\n`, 'trailer'],
    ['a tab behind a length', withLine('content-length: 1\t'), 'length'],
    ['a trailer without a name', `${chunkedHead}0\r\n: x\r\n\r\n`, 'trailer'],
    ['trailers without an end', `${chunkedHead}0\r\n${'a: b\r\n'.repeat(2_000)}`, 'long trailers'],
  ])('%s', (_, text, reason) => {
    expect(parseAnswer(text).end).toBe(`bad answer: ${reason}`)
    expect(parseAnswer(text, everyCut(text)).end).toBe(`bad answer: ${reason}`)
  })
})

test('a length beside chunks is refused, whichever comes first', () => {
  for (const lines of [
    'content-length: 1\r\ntransfer-encoding: chunked',
    'transfer-encoding: chunked\r\ncontent-length: 1',
  ])
    expect(parseAnswer(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`).end).toBe('bad answer: two lengths')
})

test('the chunks of one read come as one piece', () => {
  const parser = new AnswerParser()
  const pieces: string[] = []
  parser.begin({ onHead: () => undefined, onBody: (bytes) => void pieces.push(bytes.toString()) })
  parser.feed(Buffer.from(`${chunkedHead}2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`))
  expect(pieces).toEqual(['abc'])
})

test('a head says whether one of its values begins with a zero, and gives its headers by any case of a name', () => {
  const read = (...headers: string[]) => {
    const bytes = Buffer.from(['HTTP/1.1 200 OK', ...headers, ''].join('\r\n'))
    return readAnswerHead(bytes, 0, bytes.length)
  }
  const exhausted = read('X-RateLimit-Remaining-Requests:  0 ', 'x-ratelimit-reset-requests: 2s', 'X-A: 1')
  expect(exhausted.hasZero).toBe(true)
  expect(exhausted.get('x-ratelimit-remaining-requests')).toBe('0')
  expect([...exhausted]).toEqual([
    ['x-ratelimit-remaining-requests', '0'],
    ['x-ratelimit-reset-requests', '2s'],
    ['x-a', '1'],
  ])
  expect(read('X-A: 10', 'Content-Length: 20', 'X-B: ').hasZero).toBe(false)
  expect(read('X-A: 1', 'x-a: 2').get('x-a')).toBe('1, 2')
  // A tab behind the length is refused, behind another header it is a blank.
  expect(() => read('Content-Length: 2\t')).toThrow('length')
  expect(read('Content-Length: 2', 'Fourteen-chars: a\t').get('fourteen-chars')).toBe('a')
})
