import { useCommon } from './language.tsx'

/** Beside a code that leads to the machine it is shown on: no phone reaches that, and none can say why. */
export function LeadsHere({ link }: { link: string }) {
  const words = useCommon()
  return LOOPBACK.test(decodeURIComponent(link)) ? <p class="hint">{words.leadsHere}</p> : null
}

const LOOPBACK = /https?:\/\/(localhost|[^/:]*\.localhost|127(\.\d+){3}|\[::1\])[:/]/
