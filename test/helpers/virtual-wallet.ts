// The wallet that Chromium (156 and later) simulates behind `navigator.credentials.get({ digital })`. Without a behaviour
// the call stays open for ever, so every test sets one.
import type { Page } from 'playwright-core'
import type { DcAnswer } from '../../src/sandbox/wallet/dc-wallet.ts'

type Behaviour = { action: 'respond'; protocol: string; response: Record<string, string> } | { action: 'decline' | 'wait' }

export type VirtualWallet = {
  respond: (answer: DcAnswer) => Promise<void>
  decline: () => Promise<void>
  /** The dialog stays open until the page aborts it. */
  wait: () => Promise<void>
}

/** For the page as it is loaded: a navigation forgets the behaviour. */
export async function virtualWallet(page: Page): Promise<VirtualWallet> {
  const debuggee = await page.context().newCDPSession(page)
  const { frameTree } = await debuggee.send('Page.getFrameTree')
  const set = async (behaviour: Behaviour) => {
    await debuggee.send('DigitalCredentials.setVirtualWalletBehavior', { ...behaviour, frameId: frameTree.frame.id })
  }
  return {
    respond: ({ protocol, data }) => set({ action: 'respond', protocol, response: data as Record<string, string> }),
    decline: () => set({ action: 'decline' }),
    wait: () => set({ action: 'wait' }),
  }
}
