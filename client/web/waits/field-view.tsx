/** One field of a form: label, hint, control, and what is wrong with it, told together to those who do not see them. */
import { showInvisible } from '../../../responses/show-invisible';
import type { FormField } from './form-fields';

export interface FieldProps {
  /** Of the form: ids on a page are unique. */
  readonly form: string;
  readonly field: FormField;
  readonly value: readonly string[];
  readonly fault?: string;
}

/** The name in which the form sends it. */
export const inputNameOf = ({ name }: Pick<FormField, 'name'>): string => `f.${name}`;

const MAX_RADIOS = 8;

export const FieldView = (props: FieldProps) => {
  const { kind } = props.field.control;
  const isGroup =
    kind === 'flag' ||
    kind === 'choices' ||
    (props.field.control.kind === 'choice' && props.field.control.options.length <= MAX_RADIOS);
  return isGroup ? <GroupField {...props} /> : <SingleField {...props} />;
};

const idOf = ({ form, field }: FieldProps): string => `${form}-${field.name === '' ? 'value' : field.name}`;

const describedBy = (props: FieldProps): string | undefined => {
  const ids = [
    ...(props.fault === undefined ? [] : [`${idOf(props)}-fault`]),
    ...(props.field.hint === undefined ? [] : [`${idOf(props)}-hint`]),
  ];
  return ids.length === 0 ? undefined : ids.join(' ');
};

const Explained = (props: FieldProps) => (
  <>
    {props.field.hint === undefined ? null : (
      <p class="hint" id={`${idOf(props)}-hint`}>
        {props.field.hint}
      </p>
    )}
    {props.fault === undefined ? null : (
      <p class="field-error" id={`${idOf(props)}-fault`}>
        {props.fault}
      </p>
    )}
  </>
);

const Optional = ({ field }: Pick<FieldProps, 'field'>) =>
  field.isRequired ? null : <span class="optional"> (optional)</span>;

const SingleField = (props: FieldProps) => (
  <div class={props.fault === undefined ? 'field' : 'field faulty'}>
    <label for={idOf(props)}>
      {props.field.label}
      <Optional field={props.field} />
    </label>
    <Explained {...props} />
    <Input {...props} />
  </div>
);

const Input = (props: FieldProps) => {
  const { control } = props.field;
  const [value = ''] = props.value;
  const shared = {
    id: idOf(props),
    name: inputNameOf(props.field),
    'aria-describedby': describedBy(props),
    'aria-invalid': props.fault === undefined ? undefined : ('true' as const),
    'aria-required': props.field.isRequired ? ('true' as const) : undefined,
  };
  switch (control.kind) {
    case 'choice':
      return (
        <select {...shared}>
          <option value="">Choose…</option>
          {control.options.map((option) => (
            <option value={option} selected={option === value}>
              {showInvisible(option)}
            </option>
          ))}
        </select>
      );
    // No `type="number"`: what is no number is to reach the service, which says so beside the field.
    case 'number':
      return <input {...shared} type="text" inputmode="decimal" autocomplete="off" value={value} />;
    case 'text':
      return (
        <textarea {...shared} rows={control.isShort ? 1 : 3}>
          {value}
        </textarea>
      );
    case 'json':
    case 'lines':
    case 'flag':
    case 'choices':
      return (
        <textarea {...shared} rows={3} spellcheck={false} class="code">
          {value}
        </textarea>
      );
  }
};

const GroupField = (props: FieldProps) => (
  <fieldset
    id={idOf(props)}
    tabindex={-1}
    class={props.fault === undefined ? 'field' : 'field faulty'}
    aria-describedby={describedBy(props)}
  >
    <legend>
      {props.field.label}
      <Optional field={props.field} />
    </legend>
    <Explained {...props} />
    {optionsOf(props.field).map(({ value, name }, index) => (
      <label class="option" for={`${idOf(props)}-${String(index)}`}>
        <input
          id={`${idOf(props)}-${String(index)}`}
          type={props.field.control.kind === 'choices' ? 'checkbox' : 'radio'}
          name={inputNameOf(props.field)}
          value={value}
          checked={props.value.includes(value)}
        />
        <span>{name}</span>
      </label>
    ))}
  </fieldset>
);

const optionsOf = ({ control }: FormField): readonly { readonly value: string; readonly name: string }[] => {
  if (control.kind === 'flag') {
    return [
      { value: 'true', name: 'Yes' },
      { value: 'false', name: 'No' },
    ];
  }
  return control.kind === 'choice' || control.kind === 'choices'
    ? control.options.map((option) => ({ value: option, name: showInvisible(option) }))
    : [];
};
