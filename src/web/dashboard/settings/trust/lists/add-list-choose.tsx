import type { CheckedList, TrustPreset } from '../../../../../dashboard/settings/trust/schema.ts'
import { Check, Field } from '../../../../kit/field.tsx'
import { Icon } from '../../../../kit/icons.tsx'
import { Notice } from '../../../../kit/notice.tsx'
import { useClaimWords } from '../../../../shared/claims.ts'
import { FileInput } from '../../../parts/file-button.tsx'
import { useTrustWords } from '../words.ts'
import { StepHeading } from './step-heading.tsx'

/** The same as the server's. */
const LIST_BYTES_MAX = 4 * 1024 * 1024

/** `by`: the name of a preset, `address` or `file`. */
export type Choice = { by: string; address: string; file: { name: string; content: Blob; isTooLarge: boolean } | undefined }

export const isHttps = (address: string): boolean => URL.parse(address.trim())?.protocol === 'https:'

const REGIONS = ['eu', 'de', 'us'] as const

const regionOf = ({ name }: TrustPreset): (typeof REGIONS)[number] =>
  REGIONS.find(region => name.startsWith(`${region}-`)) ?? 'us'

type Props = {
  presets: readonly TrustPreset[]
  choice: Choice
  isTried: boolean
  refused: CheckedList['refused'] | undefined
  onChoose: (choice: Choice) => void
}

export function ChooseList({ presets, choice, isTried, refused, onChoose }: Props) {
  const words = useTrustWords().addList
  const { refusals, forPapers } = useTrustWords().lists
  const { document } = useClaimWords()
  const pick = (by: string) => onChoose({ ...choice, by })
  return (
    <>
      <StepHeading>{words.steps[0]}</StepHeading>
      {REGIONS.map(region => {
        const own = presets.filter(preset => regionOf(preset) === region)
        return (
          own.length > 0 && (
            <fieldset key={region} class="choices">
              <legend>{words.regions[region]}</legend>
              {own.map(({ name, label, types }) => (
                <Check
                  key={name}
                  group="list"
                  label={words.presets[name] ?? label}
                  hint={types.length > 0 ? [...new Set(types.map(document))].join(', ') : forPapers}
                  isChecked={choice.by === name}
                  onCheck={() => pick(name)}
                />
              ))}
            </fieldset>
          )
        )
      })}
      <fieldset class="choices">
        <legend>{words.regions.own}</legend>
        <Check group="list" label={words.byAddress} isChecked={choice.by === 'address'} onCheck={() => pick('address')} />
        {choice.by === 'address' && (
          <Field
            label={words.address}
            type="url"
            autocomplete="off"
            placeholder="https://"
            problem={isTried && !isHttps(choice.address) && words.addressProblem}
            value={choice.address}
            onText={address => onChoose({ ...choice, address })}
          />
        )}
        <Check
          group="list"
          label={words.byFile}
          hint={words.byFileHint}
          isChecked={choice.by === 'file'}
          onCheck={() => pick('file')}
        />
        {choice.by === 'file' && <ListFile choice={choice} isTried={isTried} onChoose={onChoose} />}
      </fieldset>
      {refused && (
        <Notice tone="no" alert>
          <p>{refusals[refused.code]}</p>
          <p lang="en" class="hint">
            {refused.message}
          </p>
        </Notice>
      )}
    </>
  )
}

function ListFile({ choice, isTried, onChoose }: Pick<Props, 'choice' | 'isTried' | 'onChoose'>) {
  const words = useTrustWords().addList
  const { file } = choice
  const problem = file?.isTooLarge ? words.fileTooLarge : isTried && !file && words.fileProblem
  return (
    <div class="stack tight">
      <FileInput
        onFile={content =>
          onChoose({ ...choice, file: { name: content.name, content, isTooLarge: content.size > LIST_BYTES_MAX } })
        }
      />
      <p role="status">{file?.name}</p>
      {problem && (
        <p class="problem" role="alert">
          <Icon name="warning" /> <span>{problem}</span>
        </p>
      )}
    </div>
  )
}
