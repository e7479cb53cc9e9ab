BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BB BBBBBBBBBBB
     gettext(u'Available to jobs of %(t)s') 
      SSSSSSSSS SS SSSS SS SSSSS
    
  BBBB
     gettext(u'Available to jobs of all teams') 
  BBBBB
  XXXXXXX XXXXXXXX XXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB
        XXXXX XXXXXXXXXXXXX
              XXXXXXXXXXXXXXXXXX
              XXXXXXXXXXXXXX gettext(u'Delete %(r)s with all its versions? Jobs that name it and have not started will not.') 
                SSSSSS SSSSS SSSS SSS SSS SSSSSSSSS SSSS SSSS SSSS SS SSS SSSS SSS
                SSSSSSS SSSS SSSS
              XX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXX pgettext(u'button', u'Delete') XXXXXXXXX
        XXXXXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXXX
       pgettext(u'field', u'Version') 
       pgettext(u'field', u'Updated') 
       pgettext(u'field', u'Last used') 
       pgettext(u'field', u'Jobs (30 days)') 
       pgettext(u'name of a value', u'never') 
      XXXXXXX XXXXXXXXXXXXXXXXXXXXXX XXXXXXXX XX
      XXXXXXX XXXXXXXXXXXXXXXXXXXXXX XXXXXXXFFFX XX
      XXXXXXX XXXXXXXXXXXXXXXXXXX XXXXXXXFFFFFFFFFFFFFFFFX XX
      BB BBBBBBBBBBB BB BBB BBBB
        XXXXXXX XXXXXXXXXXXXXXXXXXX XXXXXXXFFFFFFFFFFFFFFFFXX
          BB BBBBBBBBBBB
            BBBBB BBBBBBBBBBBBBBBB BBBBBB
          BBBBB
        XXXXXXXXX
      BBBBB
    XXXXXX
    XXXX XXXXXXXXXXXX XXXXXX
       gettext(u'Jobs that were given it') 
      XXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXX
        BB BBBB
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXX
              XXXXXXX
                XXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Job') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'State') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Owner') XXXXX
                  XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Version') XXXXX
                  XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'when a secret was used', u'Used') XXXXX
                XXXXX
              XXXXXXXX
              XXXXXXX
                BBB BBB BB BBBB
                  XXX XXXXXXXXXXXXX
                    XXX XXXXXXXXXXX XXXXXX
                      XX XXXXXXXXXXXXX XXXXXXXXXXXX
                      XXXXX XXXXXXXXXXXXXXXXXXXXXX
                    XXXXX
                    XXXXBBBBB BBBBB BBBBBBBXXXXX
                    XXX XXXXXXXXXXXX XXXXXXXXXXX
                    XXX XXXXXXXXXX XXXXXX
                        XXXXXXXXXXXX pgettext(u'column', u'Version') XXXXXXX
                    XXX XXXXXXXXXX XXXXX XXXXXXXXFFFXXXXX
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
        BBBB BBBBBBBBBBBB
          XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No jobs that you can see.') XXXX
        BBBB
          XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No job has used it. Name it in the spec of a job.') XXXX
        BBBBB
      XXXXXXXXXX
      XXXX XXXXXXXXXXXXXX
         pgettext(u'heading', u'Use it') 
        XXXXXXXX XXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXXXXX XXXXXXXXXX BB BBBBBBBBBBBXXXXBBBBXXXBBBBBXXX XX
        XXXXXXXXXX
         pgettext(u'heading', u'Versions') 
        XXXXXXXX XXXXXXXXXXXXXX XXXXXXXFFFFFFXX
          BBB B BB BBBBBBBBBBBBBBB
            XXXX XXXXXXXXXXXXXX XXXXX
              XXXXXXXXXXXXXXXXX
              XXXXX XXXXXXXXXXXX XXXXX XXXXXXXXXXXXX
              XXXXX XXXXXXXXXXXX XXXXX XXXXXXXXFFFXXXXXXX
              BB BBBBBBBBB BBB BBBBBBBB BB BBBBBBBBBBBBBB
                XXXXX XXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXX
                      XXXXXXXXXXXXXX gettext(u'Delete version %(n)s of %(r)s? Jobs that name it will not start.') 
                        SSSSSS SSSSSSS SSSSS SS SSSSSS SSSS SSSS SSSS SS SSSS SSS
                        SSSSSS
                      XX
                  BBBBBBBBBB
                  XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
                  XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
                  XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
                  XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXX
                  XXXXXXX XXXXXXXXXX XXXXX XXXXX XXXXXXXX pgettext(u'button', u'Delete') XXXXXXXXX
                XXXXXXX
              BBBBB
            XXXXXX
          BBBBBB
        XXXXXXXXXX
      XXXXXX
    XXXXXX
  XXXXXX
BBBBBBBB
