BBBB BBBB BBBBBB
 #

BB BBBBBBBBBBBBBB
  XXXXXXX XXXXXXXXXXX
          XXXXXXX gettext(u'Loading this version can run code') XX
     gettext(u'%(files)s: pickles run what their author put in. Load them only if you trust the author, or save the model as safetensors.') 
      SSSSSSSSSS SSSSSSS SSS SSSS SSSSS SSSSSS SSS SSS SSSS SSSS SSSS SS SSS SSSSS SSS SSSSSSS SS SSSS SSS SSSSS
      SS SSSSSSSSSSSS
    
  XXXXXXXXX
BBBBB
BB BBBBBBBBBBBBBBBBB
  XXXXXXX XXXXXXX gettext(u'Some files were not checked') XX
     gettext(u'%(files)s: the format is unknown, so that loading it may run code. Save the model as safetensors to have it checked.') 
      SSSSSSSSSS SSS SSSSSS SS SSSSSSSS SS SSSS SSSSSSS SS SSS SSS SSSSS SSSS SSS SSSSS SS SSSSSSSSSSS SS SSSS SS
      SSSSSSSS
    
  XXXXXXXXX
BBBBB
XXXX XXXXXXXXXXXX XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Files') X
               XXXXXXXX
               XXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
      XXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No files yet') XX
         gettext(u'The upload of this version has not begun, or was interrupted. Delete it, and upload it again.') 
      XXXXXXXXXX
    BBBBB
    BB BBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Signature') X XXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBBBBBBBB
      XXXXXXXX XXXXXXX gettext(u'Metrics when it was registered') XX
        XXX XXXXXXXXXXXXXX
          BBB BBBBB BBBBB BB BBBBBBBBBBBBBBBBBBBBB
            XXX XXXXXXXXXXXXXXXXXX
            XXXX
              FFFFFF
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB
      BB B
        XXXXXXXX XXXXXXXXXXXXXXX
          BB BBBBBBBXX XXXXXXXXXXXXXXXXXXXXXXXBBBBB
          XXX XXXXXXXXXXXXXX
            XXXX pgettext(u'name of a value', u'Flavors') XXXXX
            XXXX
              BBB BBBB BB BBBBBBBBBXXXXX XXXXXXXXXXXXXXXXXXXXBBBBBB
            XXXXX
            BB BBBBBBBBBBBBBBBB
              XXXX pgettext(u'name of a value', u'Version') XXXXX
              XXXX
                
              XXXXX
            BBBBB
          XXXXX
          BB BBBBBBBBBBBBBB
            XXXXXXXX XXXXXXXXXXXXX
              XXXXXXXXX
                 npgettext(u'number of things', u'%(n)s requirement', u'%(n)s requirements',count) 
                  SSSSS SSSSSSSSSSS
                
                  PPPPP PPPPPPPPPPPP
                
              XXXXXXXXXX
              XXX XXXXXXXXXXX XXXXXXX
                BBB BBBB BB BBBBBBBBBBBBBBXXXXXXXXXBBBBBB
              XXXXX
            XXXXXXXXXX
          BBBBB
        XXXXXXXXXX
      BBBBB
    BBBBBBB
    BB BBB BBBBBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
    BBBBB
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Description') XX
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBB BBB BBBBBBBBBBBBBBBBBBBBBB BB BBBBBBBBBB BB BBBBBBBBBBB
          XXXXXXX XXXXXXXXXX XXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit') XXXXXXXXX
        BBBBB
      XXXXXXXXX
      BB BBBBBBBBBBBBBBBBBBB
        XXXX XXXXXXXXXXXXXXXXXFFFFFFFFXXXXXX
      BBBB
        XX XXXXXXXXXXXX XXXXXXX gettext(u'No description yet.') XXXX
      BBBBB
    XXXXXXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBB BBBBBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
      BB BBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
      BBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Aliases') XX
        XXXX XXXXXXXXXX XXXXXXXXX
          BBB BBBBB BB BBBBBBBBBBBBBBB
            XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXX
              BBBBBBBBBB
              XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
              XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
              X
              BB BBBBBBBBB
                XXXXXXX XXXXXXXXXX XXXXX XXXXXX
                        XXXXXXXXX
                        XXXXXXXXXXXXXXXXXXXX
                        XXXXXXXXXXXX pgettext(u'spoken label', u'Remove %(a)s') SSSSSS SSSSSXXXXXXXXXXXX
              BBBBB
            XXXXXXX
          BBBBB
            XXXXX XXXXXXXXXXXX XXXXXXX gettext(u'No alias points to this version.') XXXXXXX
          BBBBBB
        XXXXXX
        BB BBBBBBBBB
          XXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
            BBBBBBBBBB
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXXX
                   XXXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXX pgettext(u'spoken label', u'Alias') X
                   XXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXX
            XXXXXXXXX XXXXXXXXXXXXX
              BBB BBBBB BB BBBBBBBBBBBBB
                XXXXXXXXXXXXXXXXX
              BBBBBB
            XXXXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXXX
                    XXXXXXXXX
                    XXXXXXXXXXXXXXXXXX pgettext(u'button, to set', u'Set') XXXXXXXXX
          XXXXXXX
        BBBBB
      XXXXXXXXXX
    BBBBB
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Lineage') XX
      XXX XXXXXXXXXXXXXX
        BBB BBBBBB BB BBBBBBB
          XXXX
            BB BBBBBBBBBBB BB BBBBB
               pgettext(u'name of a value, training run', u'Run') 
            BBBB
               pgettext(u'name of a value', u'Logged model') 
            BBBBB
          XXXXX
          XXXX
            XX XXXXXXXXXXXX
          XXXXX
        BBBBBB
        BB BBBBBBBBB
          XXXX pgettext(u'name of a value', u'Promoted from') XXXXX
          XXXX
            XX XXXXXXBBB BBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBXX
              X X
            XXXX
          XXXXX
        BBBBB
        BB BBBBBBBBBBBBBB
          XXXX pgettext(u'name of a value', u'Source') XXXXX
          XXX XXXXXXXXXXXXX
            
          XXXXX
        BBBB BBB BBBBBBB BBB BBB BBBBBBBBB
          XXXX pgettext(u'name of a value', u'Source') XXXXX
          XXXX
             pgettext(u'value', u'uploaded by %(n)s') SSSSSSSS SS SSSSS
          XXXXX
        BBBBB
        BBB BBBB BBBBB BB BBBBBBBBBBBBBBBBBB
          XXX XXXXXXXXXXXXXXXXXX
          XXXX
            
          XXXXX
        BBBBBB
      XXXXX
      BB BBBBBBBBB BBB BBB BBBBBBBBBB
        XXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
          XXXXXX XXXXXXXXXXXX XXXXXX XXXXXXXXXXXX pgettext(u'field', u'Stage (MLflow 2)') XXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXXXXXXX
            BBB BBBBB BB BBBBBB
              XXXXXXX BB BBBBB BB BBBBBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
        XXXXXXX
      BBBBB
    XXXXXXXXXX
  XXXXXX
XXXXXX
