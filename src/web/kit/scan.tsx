import { useEffect, useRef, useState } from 'preact/hooks'
import decodeQR from 'qr/decode.js'
import { useCommon } from '../shared/language.ts'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'
import { Notice } from './notice.tsx'

const FRAME_MS = 120
/** Enough for the small modules of large codes. */
const CAMERA = { facingMode: 'environment', width: { ideal: 1920 } }

/** https://wicg.github.io/shape-detection-api/: the browser's own reader, faster than ours. */
type Detector = { detect: (picture: ImageBitmapSource) => Promise<{ rawValue: string }[]> }
type DetectorClass = { new (options: { formats: string[] }): Detector; getSupportedFormats: () => Promise<string[]> }
const { BarcodeDetector } = globalThis as { BarcodeDetector?: DetectorClass }

export const hasDetector = async (): Promise<boolean> =>
  (await BarcodeDetector?.getSupportedFormats())?.includes('qr_code') ?? false

type Props = {
  onText: (text: string) => void
  /** From its beginning to its end, without a tap and after a code too. */
  isSteady?: boolean
}

/** Reads a QR code by camera. Shows nothing without a camera, or over plain http. */
export function Scanner({ onText, isSteady = false }: Props) {
  const words = useCommon()
  const [hasCamera, setHasCamera] = useState(false)
  const [isOn, setIsOn] = useState(isSteady)
  const [isRefused, setIsRefused] = useState(false)
  useEffect(() => void findCamera().then(setHasCamera), [])
  if (!hasCamera) return null
  if (isRefused) return <Notice tone="wait">{words.cameraRefused}</Notice>
  if (!isOn)
    return (
      <Button onClick={() => setIsOn(true)}>
        <Icon name="camera" />
        {words.scan}
      </Button>
    )
  return (
    <div class="scanner stack tight">
      <Viewfinder onText={onText} isSteady={isSteady} onRefused={() => setIsRefused(true)} />
      {!isSteady && <Button onClick={() => setIsOn(false)}>{words.stopScan}</Button>}
    </div>
  )
}

export async function findCamera(): Promise<boolean> {
  if (!isSecureContext || !navigator.mediaDevices) return false
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => [])
  return devices.some(({ kind }) => kind === 'videoinput')
}

function Viewfinder({ onText, isSteady, onRefused }: Required<Props> & { onRefused: () => void }) {
  const words = useCommon()
  const video = useRef<HTMLVideoElement>(null)
  const found = useRef(onText)
  found.current = onText
  useEffect(() => {
    const element = video.current
    if (!element) return
    let stream: MediaStream | undefined
    let isOver = false
    const stop = () => {
      isOver = true
      for (const track of stream?.getTracks() ?? []) track.stop()
    }
    const start = async () => {
      stream = await navigator.mediaDevices.getUserMedia({ video: CAMERA })
      if (isOver) return stop()
      element.srcObject = stream
      await element.play()
      const read = await readerOf(element)
      while (!isOver) {
        const text = await read()
        if (text !== undefined && !isOver) {
          if (!isSteady) stop()
          found.current(text)
        }
        await new Promise(resolve => setTimeout(resolve, FRAME_MS))
      }
    }
    start().catch(() => {
      if (!isOver) onRefused()
      stop()
    })
    return stop
  }, [])
  return <video ref={video} muted playsInline aria-label={words.viewfinder} />
}

/** Reads the present frame, by the browser or by ourselves. */
async function readerOf(video: HTMLVideoElement): Promise<() => Promise<string | undefined>> {
  if (BarcodeDetector && (await hasDetector())) {
    const detector = new BarcodeDetector({ formats: ['qr_code'] })
    // It refuses a video that has no frame yet.
    return async () => (await detector.detect(video).catch(() => []))[0]?.rawValue
  }
  const canvas = document.createElement('canvas')
  return async () => readFrame(video, canvas)
}

/** The square in the middle, as fine as the camera sees it. */
function readFrame(video: HTMLVideoElement, canvas: HTMLCanvasElement): string | undefined {
  const { videoWidth, videoHeight } = video
  const side = Math.min(videoWidth, videoHeight)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (side === 0 || !context) return undefined
  canvas.width = canvas.height = side
  context.drawImage(video, (videoWidth - side) / 2, (videoHeight - side) / 2, side, side, 0, 0, side, side)
  try {
    return decodeQR(context.getImageData(0, 0, side, side))
  } catch {
    // Most frames show no code.
    return undefined
  }
}
