// The words by which the scenes find what they click, in both languages.
import * as dashboardDe from '../../src/web/dashboard/de.ts'
import * as keysDe from '../../src/web/dashboard/developers/keys/de.ts'
import * as keysEn from '../../src/web/dashboard/developers/keys/en.ts'
import * as webhooksDe from '../../src/web/dashboard/developers/webhooks/de.ts'
import * as webhooksEn from '../../src/web/dashboard/developers/webhooks/en.ts'
import * as dashboardEn from '../../src/web/dashboard/en.ts'
import * as entranceDe from '../../src/web/dashboard/entrance/de.ts'
import * as entranceEn from '../../src/web/dashboard/entrance/en.ts'
import * as peopleDe from '../../src/web/dashboard/settings/people/de.ts'
import * as peopleEn from '../../src/web/dashboard/settings/people/en.ts'
import * as securityDe from '../../src/web/dashboard/settings/security/de.ts'
import * as securityEn from '../../src/web/dashboard/settings/security/en.ts'
import * as trustDe from '../../src/web/dashboard/settings/trust/de.ts'
import * as trustEn from '../../src/web/dashboard/settings/trust/en.ts'
import * as templatesDe from '../../src/web/dashboard/templates/de.ts'
import * as templatesEn from '../../src/web/dashboard/templates/en.ts'
import * as tillsDe from '../../src/web/dashboard/tills/de.ts'
import * as tillsEn from '../../src/web/dashboard/tills/en.ts'
import * as verificationsDe from '../../src/web/dashboard/verifications/de.ts'
import * as verificationsEn from '../../src/web/dashboard/verifications/en.ts'
import * as demoDe from '../../src/web/demo/de.ts'
import * as demoEn from '../../src/web/demo/en.ts'
import * as hostedDe from '../../src/web/hosted/de.ts'
import * as hostedEn from '../../src/web/hosted/en.ts'
import * as lostDe from '../../src/web/lost/de.ts'
import * as lostEn from '../../src/web/lost/en.ts'
import * as sandboxDe from '../../src/web/sandbox/de.ts'
import * as sandboxEn from '../../src/web/sandbox/en.ts'
import * as sharedDe from '../../src/web/shared/words/de.ts'
import * as sharedEn from '../../src/web/shared/words/en.ts'
import * as tillDe from '../../src/web/till/de.ts'
import * as tillEn from '../../src/web/till/en.ts'

const en = {
  ...dashboardEn,
  ...keysEn,
  ...webhooksEn,
  ...entranceEn,
  ...peopleEn,
  ...securityEn,
  ...trustEn,
  ...templatesEn,
  ...tillsEn,
  ...verificationsEn,
  ...demoEn,
  ...hostedEn,
  ...lostEn,
  ...sandboxEn,
  ...sharedEn,
  ...tillEn,
}
export type Words = typeof en
const de: Words = {
  ...dashboardDe,
  ...keysDe,
  ...webhooksDe,
  ...entranceDe,
  ...peopleDe,
  ...securityDe,
  ...trustDe,
  ...templatesDe,
  ...tillsDe,
  ...verificationsDe,
  ...demoDe,
  ...hostedDe,
  ...lostDe,
  ...sandboxDe,
  ...sharedDe,
  ...tillDe,
}
export const WORDS = { en, de }
