BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   pgettext(u'heading', u'Idle GPUs in %(p)s') SSSS SSSS SS SSSSS
   gettext(u'What happens to jobs that do nothing: the owner is warned, and can keep the job.') 
  XXXXXXX XXXXXXXX XXXXXXX
    BB BBBB BBB BBBBBBBBBBBBBBB
      XXXXX XXXXXXXXXXXXX pgettext(u'state', u'enabled') XXXXXXX
    BBBB BBBB
      XXXXX XXXXXXXXXXXXX pgettext(u'state', u'disabled') XXXXXXX
    BBBBB
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB BBB BBBB
        XXXXX XXXXXXXXXXXXX
              XXXXXXXXXXXXXX gettext(u'Delete the rule? Warnings end, and jobs with idle GPUs are left alone.') X
              XXXXXXXXXX pgettext(u'button', u'Delete rule') XX
          BBBBBBBBBB
          XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Delete rule') XXXXXXXXX
        XXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit') XXXXXXXXX
      BBBB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New rule') X XX
      BBBB BBBBBBBBBBBBBBBBB
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Open in Platform') XXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Rule') XX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No rule') X
               XXXXXXXXXXXXXXX XXXXXX
         gettext(u'Jobs with idle GPUs are left alone in this pool.') 
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBBBBBB
            XXXXXXXXX XXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New rule') X XX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBB
      BB BBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Idle now') X
                 XXXXXXXFFFFFFX
                 XXXXXXXXXX
          BB BBBBB
            XXXX XXXXXXXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXX XXXXXXX
                XXXXXXX
                  XXXX
                    XXXX pgettext(u'column', u'Job') XXXXX
                    XXXX pgettext(u'column', u'Owner') XXXXX
                    XXXX pgettext(u'column', u'Team') XXXXX
                    XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXX
                    XXXX pgettext(u'column', u'Measured') XXXXX
                    XXXX pgettext(u'column', u'Next') XXXXX
                  XXXXX
                XXXXXXXX
                XXXXXXX
                  BBB BBB BB BBBBB
                    XXX XXXXXXXXXXXXX
                      XXX XXXXXXXXXXX XXXXXX
                        XX XXXXXXXXXXXXX XXXXXXXXXXXX
                        XXXXX XXXXXXXXXXXXXXXXXXXXXX
                      XXXXX
                      XXX XXXXXXXXXXXXXXXXXX
                      XXX XXXXXXXXXXXX XXXXXXXXXXXX
                      XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXXXX
                      XXX XXXXXXXXXXXXX XXXXXXFFFFFFFFFF XXXXX
                      XXX XXXXXXXXXXXX XXXXXXXX
                        BB BBB BBBBBBBBBBBBBBB
                           pgettext(u'value', u'Would be warned') 
                        BBBB BBBBBBBBBBB
                          BB BBBBBBBBBBB BB BBBBBB
                             pgettext(u'value', u'Stopped in %(t)s') SSSSSSS SS SSSSS
                          BBBB
                             gettext(u'Priority lowered in %(t)s') SSSSSSSS SSSSSSS SS SSSSS
                          BBBBB
                        BBBB BBBBBBBBBBBBB
                           pgettext(u'value', u'Warned') 
                        BBBB
                           gettext(u'Is warned within a minute') 
                        BBBBB
                      XXXXX
                    XXXXX
                  BBBBBB
                XXXXXXXX
              XXXXXXXX
            XXXXXX
          BBBB
            XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'The rule finds no idle job now.') XXXX
          BBBBB
        XXXXXXXXXX
      BBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'CLI') XX
        XXXXXXX XXXXXXXXXXXX XXXX XXXXXXXXX X XX
      XXXXXXXXXX
    BBBBB
  XXXXXX
  BB BBBBBBBBB
    BB BBBB
       pgettext(u'heading', u'Edit rule') 
    BBBB
       pgettext(u'heading', u'New rule') 
    BBBBB
    XXXXXXXXXXXXXX XXXXXXXXX
                   XXXXXXXXXXXXXXXX
                   XXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Save') X
                   XXXXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXX
               BB BBB BBBB BB BBBBBBBBBBBBBBBXXXXXXXBBBBBX
         pgettext(u'field', u'Enabled') 
      XXXXXXXX
      XXXX XXXXXXXXXXXXX XXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Measure') X
                 XXXXXX gettext(u'Utilization counts any kernel, also one that waits.') XX
          XXXXXXX XXXXXXXXXXXXXX
            BBB BBBBBB BBBBB BB BBBBBBB
              XXXXXXX XXXXXXXX
                      BB BBBBBBBBBBBB BB BBBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Below (%%)') XX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXX
                 XXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX gettext(u'Or below (W per GPU)') X
                 XXXXXX gettext(u'Empty: power is not used.') XX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXXXX
                 XXXXXXXFFFFFFFFFFFFFFFFFFXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'For (minutes)') XX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Then') XX
          XXXXXXX XXXXXXXXXXXXXX
            BBB BBBBBB BBBBB BB BBBBBBB
              XXXXXXX XXXXXXXX
                      BB BBBBBBBBBBBB BB BBBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX gettext(u'After the warning (minutes)') XX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXXXXXXX
                 XXXXXXX pgettext(u'field', u'Exempt labels') X
                 XXXXXX gettext(u'Jobs with one of these labels are left alone.') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
                 XXXXXXXFFFFFF FX
                 XXXXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXX
        XXXXXXXXXX
      XXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXX
               BB BBBBBBBBBBBBBBBBBXXXXXXXBBBBBX
         gettext(u'Leave jobs alone in which somebody ran a command lately') 
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXX
               BB BBBBBBBBBBBBBBBBBBXXXXXXXBBBBBX
         gettext(u'Leave jobs alone whose ports were used lately') 
      XXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
