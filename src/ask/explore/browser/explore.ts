/** Leaves empty fields out of the addresses of searches, so that a link says only what was asked. */
for (const form of document.querySelectorAll<HTMLFormElement>('form.filters'))
  form.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name);
  });
