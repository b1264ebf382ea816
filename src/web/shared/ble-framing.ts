// Messages in BLE characteristics (ISO/IEC 18013-5): chunks of one byte that says whether more follows, and a payload.

const MORE = 1
const LAST = 0
/** As base64url, what the service takes. */
const MESSAGE_BYTES_MAX = 750_000

/** `bytesMax`: of a chunk. */
export function chunksOf(message: Uint8Array, bytesMax: number): Uint8Array<ArrayBuffer>[] {
  const payloadMax = bytesMax - 1
  const count = Math.max(1, Math.ceil(message.length / payloadMax))
  return Array.from({ length: count }, (_, i) => {
    const payload = message.subarray(i * payloadMax, (i + 1) * payloadMax)
    return new Uint8Array([i < count - 1 ? MORE : LAST, ...payload])
  })
}

/** Joins the chunks of one message, whatever their lengths. */
export class Reassembler {
  readonly #buffer = new ArrayBuffer(0, { maxByteLength: MESSAGE_BYTES_MAX })
  #isWhole = false

  /** The message with its last chunk, undefined before it, or what is wrong with the chunk. */
  take([flag, ...payload]: Uint8Array): Uint8Array | 'bad_chunk' | 'too_large' | undefined {
    // Empty chunks with more to follow would never end.
    if (this.#isWhole || !(flag === LAST || (flag === MORE && payload.length > 0))) return 'bad_chunk'
    const at = this.#buffer.byteLength
    if (at + payload.length > MESSAGE_BYTES_MAX) return 'too_large'
    this.#buffer.resize(at + payload.length)
    new Uint8Array(this.#buffer).set(payload, at)
    if (flag === MORE) return undefined
    this.#isWhole = true
    return new Uint8Array(this.#buffer).slice()
  }
}
