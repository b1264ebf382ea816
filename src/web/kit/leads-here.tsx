import { useCommon } from '../shared/language.tsx'
import { Notice } from './notice.tsx'

/** A warning beside a code for localhost, which no phone can reach. In the frames of the demo the wallet is on the same page. */
export function LeadsHere({ link }: { link: string }) {
  const words = useCommon()
  if (self !== top) return null
  return LOOPBACK.test(decodeURIComponent(link)) ? <Notice tone="wait">{words.leadsHere}</Notice> : null
}

const LOOPBACK = /https?:\/\/(localhost|[^/:]*\.localhost|127(\.\d+){3}|\[::1\])[:/]/
