import { PolicyFileError } from './policy-file-error.js'
import { TextLines } from './text-lines.js'

/** Decodes UTF-8. Throws where bytes are not UTF-8, because guessing would change names and keys. */
export function decodeUtf8(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    const guessed = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
    const place = new TextLines(guessed).at(firstWrong(bytes, guessed))
    throw new PolicyFileError(file, [{ ...place, message: 'the file is not UTF-8 from here on: save it as UTF-8' }])
  }
}

/** The index of the first replacement character that is not in the bytes themselves. */
function firstWrong(bytes: Buffer, guessed: string): number {
  let byte = 0
  let from = 0
  for (let at = guessed.indexOf('\ufffd'); at >= 0; at = guessed.indexOf('\ufffd', at + 1)) {
    byte += Buffer.byteLength(guessed.slice(from, at))
    if (bytes.toString('hex', byte, byte + 3) !== 'efbfbd') return at
    from = at
  }
  return 0
}
