import { useCommon } from './language.tsx'

/** A warning beside a code for localhost, which no phone can reach. */
export function LeadsHere({ link }: { link: string }) {
  const words = useCommon()
  return LOOPBACK.test(decodeURIComponent(link)) ? <p class="hint">{words.leadsHere}</p> : null
}

const LOOPBACK = /https?:\/\/(localhost|[^/:]*\.localhost|127(\.\d+){3}|\[::1\])[:/]/
