import { Row, Step, Steps } from '../happened.tsx'
import { useSandboxWords } from '../words.ts'
import type { Stage } from './use-phone.ts'

/** What the reader asked, and what it got. */
export function ReadInPerson({ stage }: { stage: Extract<Stage, { request: object }> }) {
  const words = useSandboxWords()
  const { readers, documents, version } = stage.request
  return (
    <Steps>
      <Step title={words.requested}>
        <dl>
          <Row name={words.readers} value={readers.join(', ') || words.unknownReader} isText />
          <Row name={words.askedDocuments} value={documents.map(({ docType }) => docType).join(', ')} />
          <Row name={words.requestVersion} value={version} />
        </dl>
        <p class="secondary">{readers.length > 0 ? words.readerSigned : words.readerUnsigned}</p>
        <p class="secondary">{words.simulatedRadio}</p>
      </Step>
      {stage.name === 'done' && (
        <Step title={stage.isShared ? words.sharedInPerson : words.closedInPerson}>
          <p class="secondary">{stage.isShared ? words.deviceSigned : words.endsMore.declined}</p>
        </Step>
      )}
    </Steps>
  )
}
