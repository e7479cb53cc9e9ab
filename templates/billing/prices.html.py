BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'What an hour of each resource costs, from a day on.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Prices') X XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XXXXXXXXX XXXXXXXXXXXXXXXXXX
                XXXXXXX pgettext(u'field', u'Set price') X XX
    XXXXXXXXX
  XXXXXXXXX
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBB
      XXXXXXXX
         gettext(u'Used, but without a price:') 
        BBB BBB BB BBBBBBBB
          FFFFFFFFFFBB BBB BBBBBBBBBBBBXBBBBB
        BBBBBB
      XXXXXXXXX
    BBBBB
    BB BBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Resource') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Price') XXXXX
              XXXX pgettext(u'column', u'Per') XXXXX
              XXXX pgettext(u'column', u'From') XXXXX
              XXXX pgettext(u'column', u'Until') XXXXX
              XXXX
                XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
              XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBB
              XXXX
                XXX XXXXXXXXXXXXX
                  FFFFFFFFFF XXXXX XXXXXXXXXXXX XXXX XXXXXXXXXXXXXXX
                XXXXX
                XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Price') XX
                  BB BBBBBBBBBBBB
                    XXXXXXX
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Per') XX
                  BB BBBBBBBBBBBB BB BBBBBB
                     pgettext(u'value', u'of the price') 
                  BBBB
                    FFFFFFFFFFF
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'From') XXFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Until') XX
                  BB BBBBBBBBBBBBBBB
                    FFFFFFFFFFFF
                  BBBB
                    X
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXXX
                        XXXXXXXXXXXXXX gettext(u'Delete this price? Issued statements stay; the next one corrects them.') X
                        XXXXXXXXXX pgettext(u'button', u'Delete price') XX
                    BBBBBBBBBB
                    XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX
                    XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
                    XXXXXXX XXXXXXXXXX XXXXX XXXXXXX pgettext(u'button', u'Delete') XXXXXXXXX
                  XXXXXXX
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBB
       pgettext(u'name of a value', u'No prices yet') 
      XXXXXXXX XXXXXXXX
               XXXXXXXXXXXXXXX XXXX XXXXXXXXX XXX XXXX XXXXXXXXXX XXXXX
         gettext(u'Without prices, hours are counted but cost nothing.') 
        XXXXXXX XXXXXXXXXXXXXXX
          XXXXXXXXX XXXXXXXXXXXXXXXXXX
                    XXXXXXX pgettext(u'field', u'Set price') X XX
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
  XX XXXXXXXXXXXX XXXXXXX
     gettext(u'Lost time is what a job has to compute again after a failed node, a preemption or maintenance. Statements show it in a line of its own. It is free of charge unless you set a price for it, in percent of the normal price.') 
      SSSS SSSS SS SSSS S SSS SSS SS SSSSSSS SSSSS SSSSS S SSSSSS SSSSS S SSSSSSSSSS SS SSSSSSSSSSSS SSSSSSSSSS SSSS SS
      SS S SSSS SS SSS SSSS SS SS SSSS SS SSSSSS SSSSSS SSS SSS S SSSSS SSS SSS SS SSSSSSS SS SSS SSSSSS SSSSSS
    
  XXXX
  XXXXXXXXXXXXXX XXXXXXXXXXXXXX
                 XXXXXXX pgettext(u'heading', u'Set price') X
                 XXXXXXXX pgettext(u'button', u'Save') XX
    XXXX XXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Resource') X
               XXXXXX gettext(u'Other GPUs are those of models without a price of their own.') XX
        XXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX
          BBB BBBB BBBBB BB BBBBBBBXXXXXXX XXXXXXXXXFFFFFFFFFFXXXXXXXXXBBBBBB
        XXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX gettext(u'Price of an hour') X
               XXXXXX gettext(u'For one GPU, core or GiB; for lost time, a percentage of the price') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Currency') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXX
               XXXXXXXXXXXXX
               XXXXXXXFFFFFFFFFFFFFXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'From') XX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXX
      XXXXXXXXXX
    XXXXXX
    XX XXXXXXXXXXXX XXXXXXX gettext(u'It is valid until the next price of the same resource. Issued statements never change; the next one has the difference as a correction.') XXXX
  XXXXXXXXXXXXXXXX
BBBBBBBB
