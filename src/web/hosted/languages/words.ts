import type { SharedWords } from '../../shared/language.ts'
import type { OutcomeNames } from '../../shared/outcome-code.ts'
import type * as en from '../en.ts'

/** What a shopper can read on this page. Words of pages for staff are in English and German alone. */
export type ShopperWords = Pick<SharedWords, 'claims' | 'ageOver' | 'documents'> & {
  hosted: typeof en.hosted
  outcomes: Pick<OutcomeNames, 'completed' | 'shared'>
  common: Pick<
    SharedWords['common'],
    'language' | 'reload' | 'loading' | 'justNow' | 'unreachable' | 'broken' | 'testLabel' | 'testBand' | 'testMode' | 'leadsHere'
  >
}
