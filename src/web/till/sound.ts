const STEP_SECONDS = 0.14
const LOUDNESS = 0.2
/** Rising for a yes, falling for a no. */
const TONES = { yes: [660, 880], no: [330, 220], scanned: [990] } as const

let context: AudioContext | undefined

/** Browsers allow sound only after a user gesture: called in one. */
export function wakeSound(): void {
  context ??= new AudioContext()
  void context.resume()
}

export function play(which: keyof typeof TONES): void {
  wakeSound()
  if (!context) return
  for (const [i, frequency] of TONES[which].entries()) tone(context, frequency, context.currentTime + i * STEP_SECONDS)
}

function tone(audio: AudioContext, frequency: number, at: number): void {
  const source = audio.createOscillator()
  const volume = audio.createGain()
  source.frequency.value = frequency
  volume.gain.setValueAtTime(LOUDNESS, at)
  // The fade prevents a click.
  volume.gain.exponentialRampToValueAtTime(0.001, at + STEP_SECONDS)
  source.connect(volume).connect(audio.destination)
  source.start(at)
  source.stop(at + STEP_SECONDS)
}
