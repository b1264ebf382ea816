import { offerLanguages } from '../hosted/words.ts'
import { mount } from '../kit/mount.tsx'
import { isRefusal, Refused } from './refused.tsx'
import { Return } from './return.tsx'

const { reason } = document.documentElement.dataset
// Off the address before anything else: no code in the history.
const code = /^#response_code=([^&]+)/.exec(location.hash)?.[1]
if (location.hash) history.replaceState(null, '', location.pathname)

offerLanguages()
mount(isRefusal(reason) ? <Refused reason={reason} /> : <Return code={code} />)
