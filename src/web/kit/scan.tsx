import { useEffect, useRef, useState } from 'preact/hooks'
import decodeQR from 'qr/decode.js'
import { useCommon } from '../shared/language.ts'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'
import { Notice } from './notice.tsx'

const FRAME_MS = 150
const SIDE_MAX = 720

/** Reads a QR code by camera. Shows nothing without a camera, or over plain http. */
export function Scanner({ onText }: { onText: (text: string) => void }) {
  const words = useCommon()
  const [hasCamera, setHasCamera] = useState(false)
  const [isOn, setIsOn] = useState(false)
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
      <Viewfinder onText={onText} onRefused={() => setIsRefused(true)} />
      <Button onClick={() => setIsOn(false)}>{words.stopScan}</Button>
    </div>
  )
}

async function findCamera(): Promise<boolean> {
  if (!isSecureContext || !navigator.mediaDevices) return false
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => [])
  return devices.some(({ kind }) => kind === 'videoinput')
}

function Viewfinder({ onText, onRefused }: { onText: (text: string) => void; onRefused: () => void }) {
  const words = useCommon()
  const video = useRef<HTMLVideoElement>(null)
  const found = useRef(onText)
  found.current = onText
  useEffect(() => {
    const element = video.current
    if (!element) return
    let stream: MediaStream | undefined
    let timer: ReturnType<typeof setInterval> | undefined
    let isOver = false
    const stop = () => {
      isOver = true
      clearInterval(timer)
      for (const track of stream?.getTracks() ?? []) track.stop()
    }
    const start = async () => {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
      if (isOver) return stop()
      element.srcObject = stream
      await element.play()
      const canvas = document.createElement('canvas')
      timer = setInterval(() => {
        const text = readFrame(element, canvas)
        if (text === undefined || isOver) return
        stop()
        found.current(text)
      }, FRAME_MS)
    }
    start().catch(() => {
      if (!isOver) onRefused()
      stop()
    })
    return stop
  }, [])
  return <video ref={video} muted playsInline aria-label={words.viewfinder} />
}

function readFrame(video: HTMLVideoElement, canvas: HTMLCanvasElement): string | undefined {
  const { videoWidth, videoHeight } = video
  if (videoWidth === 0) return undefined
  const scale = Math.min(1, SIDE_MAX / Math.max(videoWidth, videoHeight))
  canvas.width = Math.round(videoWidth * scale)
  canvas.height = Math.round(videoHeight * scale)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) return undefined
  context.drawImage(video, 0, 0, canvas.width, canvas.height)
  try {
    return decodeQR(context.getImageData(0, 0, canvas.width, canvas.height))
  } catch {
    // Most frames show no code.
    return undefined
  }
}
